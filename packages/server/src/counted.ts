/** Shows a number of things, such as `1 session` and `2 sessions`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
