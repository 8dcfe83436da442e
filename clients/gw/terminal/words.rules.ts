/** A count with its noun. @param noun in the singular; its plural ends in s. */
export const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
