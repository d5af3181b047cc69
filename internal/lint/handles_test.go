package lint

import (
	"go/ast"
	"testing"
)

// A setting with a handle is one that has an effect, says `bowline server --help`.
func TestEveryHandleOfASettingIsRead(t *testing.T) {
	const config, file = "internal/config", "handles.go"
	handles, read := map[string]bool{}, map[string]bool{}
	for _, s := range load(t) {
		switch {
		case s.pkg == config && s.name == file:
			ast.Inspect(s.file, func(n ast.Node) bool {
				if spec, ok := n.(*ast.ValueSpec); ok {
					handles[spec.Names[0].Name] = true
				}
				return true
			})
		case !s.test:
			ast.Inspect(s.file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "config" {
						read[n.Sel.Name] = true
					}
				case *ast.Ident:
					if s.pkg == config {
						read[n.Name] = true
					}
				}
				return true
			})
		}
	}
	if len(handles) == 0 {
		t.Fatalf("%s/%s has no handles", config, file)
	}
	for name := range handles {
		if !read[name] {
			t.Errorf("no code reads config.%s: take it out of %s", name, file)
		}
	}
}
