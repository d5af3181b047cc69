package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/bowline-kv/bowline/"

// root is the module's folder, seen from this package's.
const root = "../.."

// source is a parsed file.
type source struct {
	pkg  string // folder, with slashes, from the module's root
	name string
	file *ast.File
	test bool
}

func (s *source) imports() []string {
	var paths []string
	for _, spec := range s.file.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		paths = append(paths, p)
	}
	return paths
}

var fileSet = token.NewFileSet()

// load parses every Go file of the module.
func load(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case d.IsDir() && (rel == "e2e" || rel == "bench/client" || rel == "bin" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && rel != "."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(rel, ".go"):
			return nil
		}
		f, err := parser.ParseFile(fileSet, p, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		all = append(all, source{path.Dir(rel), path.Base(rel), f, strings.HasSuffix(rel, "_test.go")})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("only %d files found: is the module's root at %s?", len(all), root)
	}
	return all
}

func TestEveryPackageHasItsPlace(t *testing.T) {
	found := map[string]bool{}
	for _, s := range load(t) {
		found[s.pkg] = true
	}
	for pkg := range found {
		if _, ok := ranks[pkg]; !ok {
			t.Errorf("package %s has no rank in arrows.go", pkg)
		}
	}
}

func TestArrowsPointDown(t *testing.T) {
	for _, s := range load(t) {
		if s.test {
			continue
		}
		for _, imported := range s.imports() {
			target, ours := strings.CutPrefix(imported, module)
			if !ours {
				continue
			}
			if ranks[target] >= ranks[s.pkg] {
				t.Errorf("%s/%s imports %s, which is not below it", s.pkg, s.name, target)
			}
			if slices.Contains(testOnly, target) && !slices.Contains(testOnly, s.pkg) {
				t.Errorf("%s/%s imports %s, which is for tests", s.pkg, s.name, target)
			}
		}
	}
}

func TestPublicPackagesNeedTheStandardLibraryOnly(t *testing.T) {
	for _, s := range load(t) {
		if s.test || !slices.Contains(public, s.pkg) {
			continue
		}
		for _, imported := range s.imports() {
			if strings.Contains(imported, ".") && !strings.HasPrefix(imported, module) {
				t.Errorf("%s/%s imports %s", s.pkg, s.name, imported)
			}
		}
	}
}

func TestPurePackagesTouchNothing(t *testing.T) {
	for _, s := range load(t) {
		if s.test || !slices.Contains(pure, s.pkg) {
			continue
		}
		for _, imported := range s.imports() {
			target, ours := strings.CutPrefix(imported, module)
			if slices.Contains(impure, imported) || ours && !slices.Contains(pure, target) {
				t.Errorf("pure package %s imports %s in %s", s.pkg, imported, s.name)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%s: pure package starts a goroutine", fileSet.Position(g.Pos()))
			}
			return true
		})
	}
}

func TestTimeDiskNetworkAndChanceComeFromOutside(t *testing.T) {
	for _, s := range load(t) {
		if s.test || !strings.HasPrefix(s.pkg, "internal/") || slices.Contains(outside, s.pkg) {
			continue
		}
		names := map[string]string{} // local name of an import, to its path
		for _, spec := range s.file.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			if bannedCalls[p] == nil {
				continue
			}
			local := path.Base(strings.TrimSuffix(p, "/v2"))
			if spec.Name != nil {
				local = spec.Name.Name
			}
			names[local] = p
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			id, ok := sel.X.(*ast.Ident)
			if !ok || id.Obj != nil {
				return true
			}
			banned := bannedCalls[names[id.Name]]
			random := slices.Contains(banned, "*") && !seeded[sel.Sel.Name] && !ast.IsExported(id.Name) && isFunc(sel.Sel.Name)
			if slices.Contains(banned, sel.Sel.Name) || random {
				t.Errorf("%s: %s.%s is for the composition root and the drivers", fileSet.Position(sel.Pos()), id.Name, sel.Sel.Name)
			}
			return true
		})
	}
}

// isFunc tells the functions of the random packages from their types.
func isFunc(name string) bool {
	return !slices.Contains([]string{"Rand", "Source", "Source64", "Zipf", "PCG", "ChaCha8"}, name)
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	said := map[string]bool{}
	for _, s := range load(t) {
		if s.test {
			continue
		}
		said[s.pkg] = said[s.pkg] || s.file.Doc != nil && len(s.file.Doc.Text()) > 40
	}
	for pkg, ok := range said {
		if !ok {
			t.Errorf("package %s has no package comment", pkg)
		}
	}
}

func TestNamesSaySomething(t *testing.T) {
	for _, s := range load(t) {
		for _, name := range []string{path.Base(s.pkg), strings.TrimSuffix(strings.TrimSuffix(s.name, ".go"), "_test")} {
			if slices.Contains(bannedNames, name) {
				t.Errorf("%s/%s: %q names nothing", s.pkg, s.name, name)
			}
		}
	}
}
