package main

import "strings"

// results is the table of what typed methods give: the method's name, from which the
// command's follows in lower case (a dot parts a container from its subcommand), and
// the kind of result:
//
//	ok      error                     a null is ErrNil
//	int     int64                     ints    []int64
//	bool    bool                      float   float64
//	text    string                    texts   []string
//	ptrs    []*string                 map     map[string]string
//	reply   Reply                     whatever it is
const results = `
Append int; BgRewriteAOF text; BgSave text; BitCount int; BitField reply; BitField_RO reply; BitOp int; BitPos int;
BLMove text; BLMPop reply; BLPop texts; BRPop texts; BRPopLPush text; BZMPop reply; BZPopMax reply; BZPopMin reply;
Copy bool; DBSize int; Debug reply; Decr int; DecrBy int; Del int; DelIfEq bool; Dump text; Echo text;
Eval reply; Eval_RO reply; EvalSha reply; EvalSha_RO reply; Exists int; Expire bool; ExpireAt bool; ExpireTime int;
Failover ok; FCall reply; FCall_RO reply; FlushAll ok; FlushDB ok;
GeoAdd int; GeoDist float; GeoHash ptrs; GeoPos reply; GeoRadius reply; GeoRadius_RO reply; GeoRadiusByMember reply;
GeoRadiusByMember_RO reply; GeoSearch reply; GeoSearchStore int; Get text; GetBit int; GetDel text; GetEx text; GetRange text;
GetSet text; HDel int; HExists bool; HExpire ints; HExpireAt ints; HExpireTime ints; HGet text; HGetAll map; HGetDel ptrs;
HGetEx ptrs; HIncrBy int; HIncrByFloat float; HKeys texts; HLen int; HMGet ptrs; HMSet ok; HPersist ints; HPExpire ints;
HPExpireAt ints; HPExpireTime ints; HPTTL ints; HRandField reply; HScan reply; HSet int; HSetEx bool; HSetNX bool; HStrLen int;
HTTL ints; HVals texts; Incr int; IncrBy int; IncrByFloat float; Info text; Keys texts; LastSave int; LCS reply; LIndex text;
LInsert int; LLen int; LMove text; LMPop reply; Lolwut text; LPop reply; LPos reply; LPush int; LPushX int; LRange texts; LRem int;
LSet ok; LTrim ok; MGet ptrs; Migrate text; Move bool; MSet ok; MSetNX bool; Persist bool; PExpire bool; PExpireAt bool;
PExpireTime int; PFAdd bool; PFCount int; PFDebug reply; PFMerge ok; PFSelfTest ok; Ping text; PSetEx ok; PTTL int; Publish int;
RandomKey text; Rename ok; RenameNX bool; ReplicaOf ok; Restore ok; Restore-Asking ok; Role reply; RPop reply; RPopLPush text;
RPush int; RPushX int; SAdd int; Save ok; SCard int; SDiff texts; SDiffStore int; Set ok; SetBit int; SetEx ok; SetNX bool;
SetRange int; Shutdown ok; SInter texts; SInterCard int; SInterStore int; SIsMember bool; SlaveOf ok; SMembers texts;
SMIsMember ints; SMove bool; Sort reply; Sort_RO ptrs; SPop reply; SPublish int; SRandMember reply; SRem int; SScan reply; StrLen int;
SubStr text; SUnion texts; SUnionStore int; SwapDB ok; Time texts; Touch int; TTL int; Type text; Unlink int; XAck int; XAdd text;
XAutoClaim reply; XClaim reply; XDel int; XLen int; XPending reply; XRange reply; XRead reply; XReadGroup reply; XRevRange reply;
XSetID ok; XTrim int; ZAdd int; ZCard int; ZCount int; ZDiff reply; ZDiffStore int; ZIncrBy float; ZInter reply; ZInterCard int;
ZInterStore int; ZLexCount int; ZMPop reply; ZMScore reply; ZPopMax reply; ZPopMin reply; ZRandMember reply; ZRange reply;
ZRangeByLex texts; ZRangeByScore reply; ZRangeStore int; ZRank reply; ZRem int; ZRemRangeByLex int; ZRemRangeByRank int;
ZRemRangeByScore int; ZRevRange reply; ZRevRangeByLex texts; ZRevRangeByScore reply; ZRevRank reply; ZScan reply; ZScore float;
ZUnion reply; ZUnionStore int; Command reply;
ACL.Cat texts; ACL.DelUser int; ACL.DryRun text; ACL.GenPass text; ACL.GetUser reply; ACL.Help texts; ACL.List texts; ACL.Load ok;
ACL.Log reply; ACL.Save ok; ACL.SetUser ok; ACL.Users texts; ACL.WhoAmI text; Bowline.Relay reply; Client.Capa ok;
Client.GetName text; Client.GetRedir int; Client.Help texts; Client.ID int; Client.Import-Source ok; Client.Info text;
Client.Kill reply; Client.List text; Client.No-Evict ok; Client.No-Touch ok; Client.Pause ok; Client.SetInfo ok;
Client.SetName ok; Client.TrackingInfo reply; Client.Unblock bool; Client.Unpause ok; Cluster.AddSlots ok;
Cluster.AddSlotsRange ok; Cluster.BumpEpoch text; Cluster.CancelSlotMigrations ok; Cluster.Count-Failure-Reports int;
Cluster.CountKeysInSlot int; Cluster.DelSlots ok; Cluster.DelSlotsRange ok; Cluster.Failover ok; Cluster.FlushSlot ok;
Cluster.FlushSlots ok; Cluster.Forget ok; Cluster.GetKeysInSlot texts; Cluster.GetSlotMigrations reply; Cluster.Help texts;
Cluster.Info text; Cluster.KeySlot int; Cluster.Links reply; Cluster.Meet ok; Cluster.MigrateSlots reply; Cluster.MyID text;
Cluster.MyShardID text; Cluster.Nodes text; Cluster.Replicas texts; Cluster.Replicate ok; Cluster.Reset ok; Cluster.SaveConfig ok;
Cluster.Set-Config-Epoch ok; Cluster.SetSlot ok; Cluster.Shards reply; Cluster.Slaves texts; Cluster.Slot-Stats reply;
Cluster.Slots reply; CommandLog.Get reply; CommandLog.Help texts; CommandLog.Len int; CommandLog.Reset ok; Command.Count int;
Command.Docs reply; Command.GetKeys texts; Command.GetKeysAndFlags reply; Command.Help texts; Command.Info reply;
Command.List texts; Config.Get map; Config.Help texts; Config.ResetStat ok; Config.Rewrite ok; Config.Set ok; Function.Delete ok;
Function.Dump text; Function.Flush ok; Function.Help texts; Function.Kill ok; Function.List reply; Function.Load text;
Function.Restore ok; Function.Stats reply; Latency.Doctor text; Latency.Graph text; Latency.Help texts; Latency.Histogram reply;
Latency.History reply; Latency.Latest reply; Latency.Reset int; Memory.Doctor text; Memory.Help texts; Memory.Malloc-Stats text;
Memory.Purge ok; Memory.Stats reply; Memory.Usage int; Module.Help texts; Module.List reply; Module.Load ok; Module.LoadEx ok;
Module.Unload ok; Object.Encoding text; Object.Freq int; Object.Help texts; Object.IdleTime int; Object.RefCount int;
PubSub.Channels texts; PubSub.Help texts; PubSub.NumPat int; PubSub.NumSub reply; PubSub.ShardChannels texts;
PubSub.ShardNumSub reply; Script.Debug ok; Script.Exists ints; Script.Flush ok; Script.Help texts; Script.Kill ok;
Script.Load text; Script.Show text; Sentinel.CkQuorum text; Sentinel.Config reply; Sentinel.Debug reply; Sentinel.Failover ok;
Sentinel.FlushConfig ok; Sentinel.Get-Master-Addr-By-Name texts; Sentinel.Get-Primary-Addr-By-Name texts; Sentinel.Help texts;
Sentinel.Info-Cache reply; Sentinel.Is-Master-Down-By-Addr reply; Sentinel.Is-Primary-Down-By-Addr reply; Sentinel.Master map;
Sentinel.Masters reply; Sentinel.Monitor ok; Sentinel.MyID text; Sentinel.Pending-Scripts reply; Sentinel.Primaries reply;
Sentinel.Primary map; Sentinel.Remove ok; Sentinel.Replicas reply; Sentinel.Reset int; Sentinel.Sentinels reply; Sentinel.Set ok;
Sentinel.Simulate-Failure reply; Sentinel.Slaves reply; SlowLog.Get reply; SlowLog.Help texts; SlowLog.Len int; SlowLog.Reset ok;
XGroup.Create ok; XGroup.CreateConsumer bool; XGroup.DelConsumer int; XGroup.Destroy bool; XGroup.Help texts; XGroup.SetID ok;
XInfo.Consumers reply; XInfo.Groups reply; XInfo.Help texts; XInfo.Stream reply
`

// elsewhere are the commands that the client sends in another way than by a method of
// the same name.
const elsewhere = `
asking Client.Do; auth Open; hello Open; select Open; readonly Client.WithRoute; readwrite Client.WithRoute; quit Client.Close;
reset Conn.Do; multi Tx.Exec; exec Tx.Exec; discard Conn.Do; watch Client.Watch; unwatch Client.Watch; wait Conn.Do; waitaof Conn.Do;
client|tracking Conn.Do; client|caching Conn.Do; scan Client.Scan; subscribe Client.Subscribe; unsubscribe Subscription.Close;
psubscribe Client.PSubscribe; punsubscribe Subscription.Close; ssubscribe Client.SSubscribe; sunsubscribe Subscription.Close
`

// besides are further methods for commands that have one of their own.
const besides = `
hscan Client.ScanHash; sscan Client.ScanSet; zscan Client.ScanSortedSet; evalsha Script.Run; eval Script.Run; ping Node.Do
`

// never are the commands that the client refuses to send.
const never = `
client|reply would leave the client without the replies it counts on; monitor never ends to answer: redis-cli shows it;
psync is between servers; replconf is between servers; sync is between servers
`

// result is a row of results.
type result struct {
	command string // as in testdata/commands.json
	method  string
	kind    string
}

func readResults() []result {
	var list []result
	for row := range rows(results) {
		name, kind, _ := strings.Cut(row, " ")
		list = append(list, result{
			command: strings.ToLower(strings.ReplaceAll(name, ".", "|")),
			method:  strings.NewReplacer(".", "", "-", "", "_", "").Replace(name),
			kind:    kind,
		})
	}
	return list
}

func rows(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for row := range strings.SplitSeq(text, ";") {
			if row = strings.Join(strings.Fields(row), " "); row != "" && !yield(row) {
				return
			}
		}
	}
}
