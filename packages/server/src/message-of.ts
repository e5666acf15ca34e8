/** What was thrown, in one line, whatever a library has put into its message. */
export const messageOf = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message : String(thrown)).replaceAll(/\s*\n\s*/gu, ' ')
