/** Work done per CPU second of the measured process, over rounds in which the parties took turns. */
import { number, printTable } from './report.mjs';
import { median } from './statistics.mjs';

export class Efficiency {
  #unit;
  #runs = new Map();

  /** `unit` names the counted member of each run: 'completed' calls or 'chunks'. */
  constructor(unit) {
    this.#unit = unit;
  }

  /** Adds one round of a party; every party gets the same number of rounds. */
  add(party, run) {
    this.#runs.set(party, [...(this.#runs.get(party) ?? []), run]);
  }

  /** The median over rounds of one party's efficiency divided by another's in the same round; NaN when one is absent. */
  ratio(name, otherName) {
    const one = this.#roundsOf(name);
    const other = this.#roundsOf(otherName);
    if (!one || !other) return Number.NaN;
    return median(one.map((run, round) => this.#perCpuSecond(run) / this.#perCpuSecond(other[round])));
  }

  print(title, word) {
    const columns = [word, `${word}/s`, 'CPU %', `${word}/CPU-s`, 'of pass-through', 'failed', 'children CPU %'];
    printTable(
      title,
      columns,
      [...this.#runs].map(([{ name }, runs]) => this.#row(name, runs)),
    );
  }

  #row(name, runs) {
    const total = (member) => runs.reduce((sum, run) => sum + run[member], 0);
    const seconds = total('seconds');
    return [
      name,
      number(total(this.#unit) / seconds),
      number((100 * total('cpuSeconds')) / seconds),
      number(median(runs.map((run) => this.#perCpuSecond(run)))),
      number(this.ratio(name, 'pass-through'), 3),
      total('failed'),
      number((100 * total('cpuSecondsBelow')) / seconds),
    ];
  }

  #perCpuSecond(run) {
    return run[this.#unit] / run.cpuSeconds;
  }

  #roundsOf(namePrefix) {
    return [...this.#runs].find(([{ name }]) => name.startsWith(namePrefix))?.[1];
  }
}
