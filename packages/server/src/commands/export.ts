import { type ExportedPage, exportedPages } from '@grantry/administration'
import { type Output, withOutput } from '../declaration/output-file.ts'
import { withTextsOnly } from '../declaration/texts-only.ts'
import { withAdministration } from '../opening/open-administration.ts'
import { assertSharedStorage, requireConfiguration } from '../opening/open-configuration.ts'
import { jsonText } from '../sanitize-text.ts'

export interface ExportArguments {
  readonly config?: string
  readonly out?: string
  readonly withHashes?: true
}

/** Indents the lines of an entry in its list. */
const indented = (value: unknown): string => jsonText(value).replaceAll(/^/gmu, '    ')

/** Writes the lists page by page: a storage can have a million users. Each list has at least one page. */
async function writeAll(output: Output, pages: AsyncIterable<ExportedPage>): Promise<void> {
  let list: string | undefined
  let separator = ''
  for await (const page of pages) {
    if (page.list !== list) {
      output.write(`${list === undefined ? '{\n' : '\n  ],\n'}  ${JSON.stringify(page.list)}: [`)
      list = page.list
      separator = '\n'
    }
    for (const entry of page.entries) {
      output.write(`${separator}${indented(withTextsOnly(entry))}`)
      separator = ',\n'
    }
  }
  output.write('\n  ]\n}\n')
}

/** Runs `grantry export`. */
export async function exportCommand({ config, out, withHashes }: ExportArguments): Promise<void> {
  const loaded = await requireConfiguration(config)
  assertSharedStorage(loaded, 'its entries are in the server only')
  await withAdministration(loaded, (administration) =>
    withOutput(out, (output) => writeAll(output, exportedPages(administration, { withHashes: withHashes === true }))),
  )
}
