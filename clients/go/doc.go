// Package seen reads the snapshots of seend: what one user has seen, as a small filter.
//
// A snapshot answers one question: may this user have seen this item? "No" is certain; "yes" is wrong for a small,
// chosen share of the items that were not seen. Snapshots come as the values of a compacted Kafka topic (key = user
// id) or as the body of GET /v1/filters/{filter}/users/{user}:
//
//	snapshot, err := seen.Parse(value)
//	if err != nil {
//		return err // never take a refused snapshot for an empty one
//	}
//	unseen := snapshot.Unseen(candidates)
//
// All eleven kinds of filters are read; which one a user's snapshot is makes no difference to the caller. The bytes
// are specified in schemas/snapshot.md of the project.
//
// A filter with updates tells what is new within a moment on a topic of its own, and publishes its snapshots late. A
// FilterReader follows both, and knows since when its answers may miss something: schemas/update.md.
//
// A look-up allocates nothing. Snapshots and views never change once made, so any number of goroutines may use them.
package seen
