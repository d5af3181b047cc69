package redisc

// HedgeTime is for tests that ask how often it has passed.
const HedgeTime = hedgeTime
