/**
 * Inside a transaction nothing asks a pool for another connection: as many such transactions as the pool has
 * connections would wait for each other. A suite that does so fails. Source: ADR 0045.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { EntityManager } from 'typeorm';

const transactions = new AsyncLocalStorage();

const { transaction } = EntityManager.prototype;
EntityManager.prototype.transaction = function guarded(...given) {
  const run = given.pop();
  return transaction.call(this, ...given, (tx) => transactions.run(true, run, tx));
};

const pool = Object.getPrototypeOf(pg.Pool.prototype);
const { connect } = pool;
pool.connect = function guarded(...given) {
  if (transactions.getStore()) throw new Error('A transaction asked a pool for a second connection.');
  return connect.apply(this, given);
};
