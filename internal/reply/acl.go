package reply

// Errors of access control.
const (
	// NoPermKey and NoPermChannel don't say which: the client may not be meant to know.
	NoPermKey     = "NOPERM No permissions to access a key"
	NoPermChannel = "NOPERM No permissions to access a channel"

	execNoPerm        = "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This command is no longer allowed for the following reason: "
	ExecNoPermCommand = execNoPerm + "no permission to execute the command or subcommand"
	ExecNoPermKey     = execNoPerm + "no permission to touch the specified keys"
	ExecNoPermChannel = execNoPerm + "no permission to access one of the channels used as arguments"

	UserName         = "ERR Usernames can't contain spaces or null characters"
	DefaultUserStays = "ERR The 'default' user cannot be removed"
	PasswordBits     = "ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096"
	NoRandomness     = "ERR this node has no source of random numbers"
	NoACLFile        = "ERR This Redis instance is not configured to use an ACL file. You may want to specify users via the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file set) in order to store users in the Redis configuration."
	ACLSave          = "ERR There was an error trying to save the ACLs. Please check the server logs for more information"
)

// NoPermCommand is the reply to a command (lower-case name) that the user may not
// run.
func NoPermCommand(user, name string) string { return "NOPERM " + MayNotRun(user, name) }

// MayNotRun, MayNotAccessKey and MayNotAccessChannel are what ACL DRYRUN says of a
// command that would be refused.
func MayNotRun(user, name string) string {
	return "User " + clip([]byte(user)) + " has no permissions to run the '" + name + "' command"
}

// MayNotAccessKey: see [MayNotRun].
func MayNotAccessKey(user string, key []byte) string {
	return "User " + clip([]byte(user)) + " has no permissions to access the '" + clip(key) + "' key"
}

// MayNotAccessChannel: see [MayNotRun].
func MayNotAccessChannel(user string, channel []byte) string {
	return "User " + clip([]byte(user)) + " has no permissions to access the '" + clip(channel) + "' channel"
}

// ACLFileUnread is how the reply begins to an ACL file that can't be read.
func ACLFileUnread(path string) string { return "Error loading ACLs, opening file '" + path + "'" }

// DryRunUser and DryRunCommand are the replies of ACL DRYRUN to a user and to a
// command that don't exist.
func DryRunUser(name []byte) string { return "ERR User '" + clip(name) + "' not found" }

// DryRunCommand: see [DryRunUser].
func DryRunCommand(name []byte) string { return "ERR Command '" + clip(name) + "' not found" }

// UnknownCategory is the reply of ACL CAT to a category that does not exist.
func UnknownCategory(name []byte) string { return "ERR Unknown category '" + clip(name) + "'" }
