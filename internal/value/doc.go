// Package value is the typed values of the key space: views of hashes, lists,
// sets and sorted sets that hide in which of two forms a value is.
//
// A small collection is packed in its key's record, a large one has a
// [store.Body]. A view is made for one command, of the entry that it found and,
// where that is large, its body; it is valid under the lock, until something else
// changes the table. Reading works the same in both forms. Before a packed
// value is changed the view takes a copy of it (Own), as views of a table must
// not be handed back to it; a large one is changed in place. What a changed
// view holds then is given to the key by shard.Tx.Put, or, if the body was
// there before, announced by shard.Tx.Changed.
//
// When a collection gets a body, and what its form is called, follows Redis 7.4
// and its settings. There is no lock, clock or randomness here.
package value
