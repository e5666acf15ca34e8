/**
 * Maps an address in any case to one text. Only spellings with the same text are one address, also for a store that ignores
 * more, such as accents: each of the others would have limits of its own, and be another mailbox.
 */
export const foldedAddress = (address: string): string => address.normalize('NFKC').toLowerCase()

export const isSameAddress = (one: string, other: string): boolean => foldedAddress(one) === foldedAddress(other)
