/**
 * The built service on a machine whose clock is wrong: by `TEST_CLOCK_MS`, and from SIGUSR2 on by `TEST_CLOCK_JUMP_MS`
 * more. The clock that only counts on is right.
 */
const realNow = Date.now;
let shiftMs = Number(process.env.TEST_CLOCK_MS ?? 0);

Date.now = () => realNow() + shiftMs;
process.on('SIGUSR2', () => {
  shiftMs += Number(process.env.TEST_CLOCK_JUMP_MS ?? 0);
});

await import('../../../dist/server/main.js');
