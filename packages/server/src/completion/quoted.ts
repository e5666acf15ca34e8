/** Quotes a text for bash and zsh. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Quotes a text for fish, where a backslash escapes inside quotes, too. */
export const quotedForFish = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** The key of a command in the table of a script: each word after a space. */
export const keyOf = (path: readonly string[]): string => path.map((word) => ` ${word}`).join('')
