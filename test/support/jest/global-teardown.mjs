import pg from 'pg';

/** Removes every database cloned from this run's template, the template, and the embedded server if it was ours. */
export default async function tearDown() {
  const template = process.env.TEST_TEMPLATE;
  const admin = new pg.Client({ connectionString: process.env.TEST_ADMIN_URL });
  await admin.connect();
  const { rows } = await admin.query('select datname from pg_database where datname = $1 or starts_with(datname, $2)', [
    template,
    `${template}_`,
  ]);
  for (const { datname } of rows) await admin.query(`drop database if exists "${datname}" with (force)`);
  await admin.end();
  await globalThis.testDatabaseServer?.stop();
}
