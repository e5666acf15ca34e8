/** A part of the results: a table with notes. */
export interface Section {
  readonly title: string
  readonly notes: readonly string[]
  /** The first row contains the column headings. */
  readonly rows: readonly (readonly string[])[]
  /** Printed before the tables of the operations. */
  readonly leads?: true
  /** Wrong responses, with their server. */
  readonly failures?: readonly string[]
}

/** Aligns the columns, the first one to the left. */
function alignColumns(rows: Section['rows']): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const cells = (row: readonly string[]): readonly string[] =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
  return rows.map((row) => cells(row).join('  ')).join('\n')
}

export const plainText = ({ title, notes, rows }: Section): string =>
  `\n${title}\n${alignColumns(rows)}\n${notes.map((note) => `  ${note}\n`).join('')}`

/** Wraps a paragraph at 100 columns, like all documents. */
export function wrap(text: string, indent = ''): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > 100) {
      lines.push(line)
      line = indent + word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join('\n')
}

export function markdown({ title, notes, rows }: Section): string {
  const [heads = [], ...body] = rows
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const rule = line(heads.map((_, column) => (column === 0 ? '---' : '---:')))
  return [
    `## ${title}`,
    '',
    line(heads),
    rule,
    ...body.map(line),
    '',
    ...notes.map((note) => wrap(`- ${note}`, '  ')),
    '',
  ].join('\n')
}
