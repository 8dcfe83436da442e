import { createHash } from 'node:crypto';

/** TTL of a mark in milliseconds, longer than that of every counter it covers. */
const MARK_LIFE_MS = 3 * 86_400_000;

/** Result codes of the script; a positive number is the 1-based position of the counter without room. */
export const SCRIPT_RESULT = { counted: 0, baseMissing: -1, forgotten: -2 } as const;

/** Arguments of {@link COUNT_REQUEST} per counter. */
const NUMBERS_OF_COUNTER = 4;

/**
 * Counts a request in all its counters, or in none, atomically.
 *
 * KEYS: the application's mark, then the counters in the order of refusal. ARGV: one text of numbers, because every
 * argument costs encoding time: the mark known to this instance or 0, the mark to set if there is none, 1 to count or 0
 * to check; then for each counter its limit, its base and lower bound (-1 = unknown), the count that this instance last
 * saw, and its TTL in milliseconds.
 *
 * Returns the result code, the mark, and the counters; -1 for an unknown one. A full counter refuses before a missing
 * base is requested, so that fabricated users cause no query. When the mark differs from the known one, or a counter is
 * lower than last seen, Redis has lost data: nothing is counted.
 */
export const COUNT_REQUEST = `
local args = {}
for number in string.gmatch(ARGV[1], '[^ ]+') do args[#args + 1] = number end
local mark = tonumber(redis.call('GET', KEYS[1]) or '0')
local known = tonumber(args[1])
if known ~= 0 and known ~= mark then return {${SCRIPT_RESULT.forgotten}} end
local reply = {${SCRIPT_RESULT.counted}, mark}
local isNew = {}
local isMissing = false
for i = 2, #KEYS do
  local at = 4 + (i - 2) * ${NUMBERS_OF_COUNTER}
  local base = tonumber(args[at + 1])
  local count = redis.call('GET', KEYS[i])
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
  reply[i + 1] = count
  if reply[1] == 0 and count >= tonumber(args[at]) then reply[1] = i - 1 end
end
if reply[1] == 0 and isMissing then return {${SCRIPT_RESULT.baseMissing}} end
if reply[1] ~= 0 or args[3] == '0' then return reply end
local isMarkDue = mark == 0
for i = 2, #KEYS do
  reply[i + 1] = reply[i + 1] + 1
  if isNew[i] then
    redis.call('SET', KEYS[i], string.format('%.0f', reply[i + 1]), 'PX', args[4 + (i - 2) * ${NUMBERS_OF_COUNTER} + 3])
    isMarkDue = true
  else
    redis.call('INCR', KEYS[i])
  end
end
if mark == 0 then
  reply[2] = tonumber(args[2])
  redis.call('SET', KEYS[1], args[2], 'PX', ${MARK_LIFE_MS})
elseif isMarkDue then
  redis.call('PEXPIRE', KEYS[1], ${MARK_LIFE_MS})
end
return reply`;

/** SHA-1 of the script, for `EVALSHA`. */
export const COUNT_REQUEST_SHA = createHash('sha1').update(COUNT_REQUEST).digest('hex');
