import { createHash } from 'node:crypto';

/** TTL of a mark in milliseconds, longer than that of every counter it covers. */
const MARK_LIFE_MS = 3 * 86_400_000;

/** Result codes of the script; a positive number is the 1-based position of the counter without room. */
export const SCRIPT_RESULT = { counted: 0, baseMissing: -1, forgotten: -2 } as const;

/** Numbers of {@link COUNT_REQUESTS} per request, before those of its counters, and per counter. */
const [NUMBERS_OF_REQUEST, NUMBERS_OF_COUNTER] = [4, 4];

/**
 * Counts requests of one application, each in all its counters or in none; atomically, one after the other.
 *
 * KEYS: the application's mark, then the counters of each request in the order of refusal. ARGV: one text of numbers,
 * because every argument costs encoding time. For each request: the mark known to this instance or 0, the mark to set if
 * there is none, 1 to count or 0 to check, and the number of its counters; then for each of these its limit, its base and
 * lower bound (-1 = unknown), the count that this instance last saw, and its TTL in milliseconds.
 *
 * Returns for each request the result code, the mark, and the counters; -1 for an unknown one. A full counter refuses
 * before a missing base is requested, so that fabricated users cause no query. When the mark differs from the known one,
 * or a counter is lower than last seen, Redis has lost data: that request is not counted.
 */
export const COUNT_REQUESTS = `
local args = {}
for number in string.gmatch(ARGV[1], '[^ ]+') do args[#args + 1] = number end
local mark = tonumber(redis.call('GET', KEYS[1]) or '0')
local function countOne(from, key)
  local known = tonumber(args[from])
  if known ~= 0 and known ~= mark then return {${SCRIPT_RESULT.forgotten}} end
  local reply = {${SCRIPT_RESULT.counted}, mark}
  local isNew = {}
  local isMissing = false
  local counters = tonumber(args[from + 3])
  local numbers = from + ${NUMBERS_OF_REQUEST}
  for i = 1, counters do
    local at = numbers + (i - 1) * ${NUMBERS_OF_COUNTER}
    local base = tonumber(args[at + 1])
    local count = redis.call('GET', KEYS[key + i])
    isNew[i] = not count
    if not count then
      if tonumber(args[at + 2]) > 0 then return {${SCRIPT_RESULT.forgotten}} end
      if base < 0 then isMissing = true end
      count = base
    else
      count = tonumber(count)
      if count < tonumber(args[at + 2]) then return {${SCRIPT_RESULT.forgotten}} end
      if count < base then
        count = base
        isNew[i] = true
      end
    end
    reply[i + 2] = count
    if reply[1] == 0 and count >= tonumber(args[at]) then reply[1] = i end
  end
  if reply[1] == 0 and isMissing then return {${SCRIPT_RESULT.baseMissing}} end
  if reply[1] ~= 0 or args[from + 2] == '0' then return reply end
  local isMarkDue = mark == 0
  for i = 1, counters do
    local at = numbers + (i - 1) * ${NUMBERS_OF_COUNTER}
    reply[i + 2] = reply[i + 2] + 1
    if isNew[i] then
      redis.call('SET', KEYS[key + i], string.format('%.0f', reply[i + 2]), 'PX', args[at + 3])
      isMarkDue = true
    else
      redis.call('INCR', KEYS[key + i])
    end
  end
  if mark == 0 then
    mark = tonumber(args[from + 1])
    reply[2] = mark
    redis.call('SET', KEYS[1], args[from + 1], 'PX', ${MARK_LIFE_MS})
  elseif isMarkDue then
    redis.call('PEXPIRE', KEYS[1], ${MARK_LIFE_MS})
  end
  return reply
end
local replies = {}
local from = 1
local key = 1
while from <= #args do
  replies[#replies + 1] = countOne(from, key)
  local counters = tonumber(args[from + 3])
  from = from + ${NUMBERS_OF_REQUEST} + counters * ${NUMBERS_OF_COUNTER}
  key = key + counters
end
return replies`;

/** SHA-1 of the script, for `EVALSHA`. */
export const COUNT_REQUESTS_SHA = createHash('sha1').update(COUNT_REQUESTS).digest('hex');
