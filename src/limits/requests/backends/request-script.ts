import { createHash } from 'node:crypto';

/** TTL of a mark in milliseconds, longer than that of every counter it covers. */
const MARK_LIFE_MS = 3 * 86_400_000;

/** Result codes of the script; a positive number is the 1-based position of the counter without room. */
export const SCRIPT_RESULT = { counted: 0, baseMissing: -1, forgotten: -2 } as const;

/** Numbers of {@link COUNT_REQUESTS} per counter. */
const NUMBERS_OF_COUNTER = 4;

/**
 * Counts requests of one application, each in all its counters or in none; atomically, one after the other.
 *
 * KEYS: the application's mark, its counters, then the counters of the user of each request. ARGV: one text of numbers,
 * because every argument costs encoding time: the mark known to this instance or 0, the mark to set if it is missing,
 * the number of the application's counters, and the numbers of each; then for each request 1 to count or 0 to check,
 * the number of its user's counters, and the numbers of each. Those of a counter are its limit, its base and lower
 * bound (-1 = unknown), the count that this instance last saw, and its TTL in milliseconds.
 *
 * Returns for each request the result code, the mark, and its counters, the user's first, which is also the order of
 * refusal; -1 for an unknown one. A full counter refuses before a missing base is requested, so that fabricated users
 * cause no query. When the mark differs from the known one, or a counter is lower than last seen, Redis has lost data:
 * that request is not counted.
 */
export const COUNT_REQUESTS = `
local args = {}
for number in string.gmatch(ARGV[1], '[^ ]+') do args[#args + 1] = number end
local known = tonumber(args[1])
local mark = tonumber(redis.call('GET', KEYS[1]) or '0')
local isForgotten = known ~= 0 and known ~= mark
local isMarkNew = false
local isMarkDue = false
local key = 2
local at = 4

local function nextCounters(number)
  local counters = {}
  for i = 1, number do
    local base = tonumber(args[at + 1])
    local stored = tonumber(redis.call('GET', KEYS[key]) or '-1')
    counters[i] = {
      key = KEYS[key],
      limit = tonumber(args[at]),
      life = args[at + 3],
      count = math.max(stored, base),
      added = 0,
      isNew = stored < 0 or stored < base,
      isMissing = stored < 0 and base < 0,
      isForgotten = math.max(stored, 0) < tonumber(args[at + 2]),
    }
    key = key + 1
    at = at + ${NUMBERS_OF_COUNTER}
  end
  return counters
end

local function write(counter)
  if counter.added == 0 then return end
  if counter.isNew then
    redis.call('SET', counter.key, string.format('%.0f', counter.count), 'PX', counter.life)
    isMarkDue = true
  else
    redis.call('INCRBY', counter.key, counter.added)
  end
end

local ofApp = nextCounters(tonumber(args[3]))

local function countOne(counts, counters)
  for i = 1, #ofApp do counters[#counters + 1] = ofApp[i] end
  local reply = {${SCRIPT_RESULT.counted}, mark}
  local isMissing = false
  for i = 1, #counters do
    local counter = counters[i]
    if isForgotten or counter.isForgotten then return {${SCRIPT_RESULT.forgotten}} end
    if counter.isMissing then isMissing = true end
    reply[i + 2] = counter.count
    if reply[1] == 0 and counter.count >= counter.limit then reply[1] = i end
  end
  if reply[1] == 0 and isMissing then return {${SCRIPT_RESULT.baseMissing}} end
  if reply[1] ~= 0 or not counts then return reply end
  for i = 1, #counters do
    local counter = counters[i]
    counter.count = counter.count + 1
    counter.added = counter.added + 1
    reply[i + 2] = counter.count
  end
  if mark == 0 then
    mark = tonumber(args[2])
    isMarkNew = true
  end
  reply[2] = mark
  return reply
end

local replies = {}
while at <= #args do
  local counts = args[at] == '1'
  local number = tonumber(args[at + 1])
  at = at + 2
  local ofUser = nextCounters(number)
  replies[#replies + 1] = countOne(counts, ofUser)
  for i = 1, number do write(ofUser[i]) end
end
for i = 1, #ofApp do write(ofApp[i]) end
if isMarkNew then
  redis.call('SET', KEYS[1], args[2], 'PX', ${MARK_LIFE_MS})
elseif isMarkDue then
  redis.call('PEXPIRE', KEYS[1], ${MARK_LIFE_MS})
end
return replies`;

/** SHA-1 of the script, for `EVALSHA`. */
export const COUNT_REQUESTS_SHA = createHash('sha1').update(COUNT_REQUESTS).digest('hex');
