// The tables in guides that are written from declarations, each between two marks:
// `<!-- written: members -->` and `<!-- end of members -->`.

import { tags } from '../packages/administration/src/kinds/kind.ts'
import { kinds } from '../packages/administration/src/kinds/kinds.ts'
import { memberGroups } from '../packages/core/src/directory/member.ts'
import { describedMembers } from './configuration-schema.ts'

const schemas = describedMembers()

const groups = Object.keys(memberGroups)

function rowsOf(list: 'client' | 'scope' | 'user' | 'tenant'): readonly string[] {
  const { texts } = kinds[list].describe(schemas)
  const members = Object.entries({ ...texts, tags }).map(([name, text]) => ({ name, ...text }))
  members.sort((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group))
  return members.map(({ name, title, text, group }) => `| \`${list}s[].${name}\` | ${group} | ${title} | ${text} |`)
}

const tables: Readonly<Record<string, () => readonly string[]>> = {
  members: () => [
    '| member | group | label | meaning |',
    '| --- | --- | --- | --- |',
    ...(['client', 'scope', 'user', 'tenant'] as const).flatMap(rowsOf),
  ],
}

/** Returns the text of a guide with its tables as the declarations are now. @throws Error for the mark of an unknown table */
export const withTables = (guide: string): string =>
  guide.replaceAll(
    /(<!-- written: (\w+) -->\n).*?(<!-- end of \2 -->\n)/gsu,
    (_, start: string, name: string, end: string) => {
      const table = tables[name]
      if (table === undefined) throw new Error(`No declarations write the table ${name}`)
      return `${start}\n${table().join('\n')}\n\n${end}`
    },
  )
