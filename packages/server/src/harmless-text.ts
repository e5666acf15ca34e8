// C1 holds a terminal's control sequences as C0 does, and a bidirectional override changes what a person reads.
const harmful = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** A text that a stranger may have chosen, on one line and without what a terminal would obey. */
export const harmlessText = (text: string, replace: (harmful: string) => string = () => ' '): string =>
  text.replaceAll(harmful, replace)
