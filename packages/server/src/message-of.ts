import { harmlessText } from './harmless-text.ts'

/** What was thrown, in one line, whatever a library or a server has put into its message, and without what a terminal obeys. */
export const messageOf = (thrown: unknown): string =>
  harmlessText((thrown instanceof Error ? thrown.message : String(thrown)).replaceAll(/\s*\n\s*/gu, ' '))
