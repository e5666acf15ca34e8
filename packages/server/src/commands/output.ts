import { sanitizeLines, sanitizeText } from '../sanitize-text.ts'

/**
 * Prints lines, without control characters that could change the terminal. For a value, use `sanitizeText`, which
 * removes line breaks, too.
 */
export const print = (text: string): void => {
  process.stdout.write(sanitizeLines(text))
}

/** Returns a time as users read it. @param seconds since the epoch */
export const timeOf = (seconds: number): string => new Date(seconds * 1000).toISOString()

/** Formats rows as lines with aligned columns. */
export function table(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((cell) => sanitizeText(cell)))
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? []
  return cells
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
