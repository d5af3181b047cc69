package resp

// Value writes a decoded reply again, attributes included where the protocol has them:
// for a proxy, or a test. A null is written as [Writer.Null] does it and a value of kind
// [KindInvalid] as a null; a half pair at the end of a map is left out.
func (w *Writer) Value(v *Value) {
	if attrs := v.Attributes(); len(attrs) > 1 && w.Attribute(len(attrs)/2) {
		w.values(attrs[:len(attrs)&^1])
	}
	switch v.Kind {
	case KindSimple:
		w.Simple(string(v.Str))
	case KindError:
		w.Error(string(v.Str))
	case KindBulkError:
		w.BulkError(string(v.Str))
	case KindInt:
		w.Int(v.Int)
	case KindBulk:
		w.Bulk(v.Str)
	case KindDouble:
		w.Double(v.Float())
	case KindBool:
		w.Bool(v.Int != 0)
	case KindBigNumber:
		w.BigNumber(string(v.Str))
	case KindVerbatim:
		w.Verbatim(string(v.Ext[:]), string(v.Str))
	case KindArray:
		w.Array(len(v.Elems))
		w.values(v.Elems)
	case KindSet:
		w.Set(len(v.Elems))
		w.values(v.Elems)
	case KindPush:
		w.Push(len(v.Elems))
		w.values(v.Elems)
	case KindMap:
		w.Map(len(v.Elems) / 2)
		w.values(v.Elems[:len(v.Elems)&^1])
	default:
		w.Null()
	}
}

func (w *Writer) values(list []Value) {
	for i := range list {
		w.Value(&list[i])
	}
}
