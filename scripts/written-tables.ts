// The tables in guides that are written from declarations, each between two marks:
// `<!-- written: members -->` and `<!-- end of members -->`. Tables of options have the comments and defaults of their schemas.

import { readFileSync } from 'node:fs'
import { tags } from '../packages/administration/src/kinds/kind.ts'
import { kinds } from '../packages/administration/src/kinds/kinds.ts'
import { memberGroups } from '../packages/core/src/directory/member.ts'
import { isJsonObject } from '../packages/core/src/json.ts'
import { directorySchemasOf } from '../packages/core/src/parts/registry.ts'
import { createNamedPlugin } from '../packages/server/src/configuration/named-plugins.ts'
import { backChannelLogoutSchema } from '../plugins/back-channel-logout/back-channel-logout.ts'
import { clientMetadataSchema } from '../plugins/client-metadata/client-metadata.ts'
import { deviceAuthorizationSchema } from '../plugins/device-authorization/device-authorization.ts'
import { dpopSchema } from '../plugins/dpop/dpop.ts'
import { mtlsSchema } from '../plugins/mtls/mtls.ts'
import { pushedAuthorizationSchema } from '../plugins/pushed-authorization/pushed-authorization.ts'
import { describedMembers } from './configuration-schema.ts'

const schemas = describedMembers()

const groups = Object.keys(memberGroups)

function rowsOf(list: 'client' | 'scope' | 'user' | 'tenant'): readonly string[] {
  const { texts } = kinds[list].describe(schemas)
  const members = Object.entries({ ...texts, tags }).map(([name, text]) => ({ name, ...text }))
  members.sort((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group))
  return members.map(({ name, title, text, group }) => `| \`${list}s[].${name}\` | ${group} | ${title} | ${text} |`)
}

/** The members that a plugin adds to clients. */
function clientMembersOf(plugin: Parameters<typeof createNamedPlugin>[0]): readonly string[] {
  const { clientTexts: usual } = directorySchemasOf([])
  const { clientTexts } = directorySchemasOf([createNamedPlugin(plugin, [plugin])])
  const added = Object.entries(clientTexts).filter(([name]) => !(name in usual))
  const rows = added.map(([name, { title, text }]) => `| \`${name}\` | ${title} | ${text} |`)
  return ['| member | label | meaning |', '| --- | --- | --- |', ...rows]
}

type OptionsSchema = { readonly entries: Readonly<Record<string, object>> }

/** Returns the comments of the entries of an object in a source, by name. */
function commentsIn(source: string, name: string): ReadonlyMap<string, string> {
  const text = readFileSync(new URL(`../${source}`, import.meta.url), 'utf8')
  const [, object = ''] = new RegExp(`const ${name} = configurationObject\\(\\{\\n(.*?)^\\}`, 'msu').exec(text) ?? []
  return new Map(
    [...object.matchAll(/^ {2}\/\*\*((?:(?!\*\/).)*)\*\/\n {2}(\w+):/gmsu)].map(([, comment = '', option = '']) => [
      option,
      comment.replaceAll(/\n\s*\* ?/gu, ' ').trim(),
    ]),
  )
}

const shownDefault = (entry: { readonly type?: unknown; readonly default?: unknown }): string => {
  if (entry.type !== 'optional') return 'required'
  // An object has the defaults of its own options.
  if (isJsonObject(entry.default)) return ''
  const values = [entry.default].flat().filter((value) => ['string', 'number', 'boolean'].includes(typeof value))
  return values.length === 0 ? 'none' : values.map((value) => `\`${value}\``).join(', ')
}

/** @throws Error for an option without a comment */
const optionRows = ({ entries }: OptionsSchema, source: string, name: string): readonly string[] => {
  const comments = commentsIn(source, name)
  return [
    '| option | default | meaning |',
    '| --- | --- | --- |',
    ...Object.entries(entries).map(([option, entry]) => {
      const meaning = comments.get(option)?.replace(/ Default: [^.]+\.$/u, '')
      if (meaning === undefined) throw new Error(`${source}: ${option} has no comment`)
      return `| \`${option}\` | ${shownDefault(entry)} | ${meaning} |`
    }),
  ]
}

const tables: Readonly<Record<string, () => readonly string[]>> = {
  backChannelLogout: () =>
    optionRows(
      backChannelLogoutSchema,
      'plugins/back-channel-logout/back-channel-logout.ts',
      'backChannelLogoutSchema',
    ),
  clientMetadata: () =>
    optionRows(clientMetadataSchema, 'plugins/client-metadata/client-metadata-options.ts', 'clientMetadataSchema'),
  deviceAuthorization: () =>
    optionRows(
      deviceAuthorizationSchema,
      'plugins/device-authorization/device-options.ts',
      'deviceAuthorizationSchema',
    ),
  dpop: () => optionRows(dpopSchema, 'plugins/dpop/dpop-settings.ts', 'settingsSchema'),
  mtls: () => optionRows(mtlsSchema, 'plugins/mtls/mtls-settings.ts', 'settingsSchema'),
  pushedAuthorization: () =>
    optionRows(
      pushedAuthorizationSchema,
      'plugins/pushed-authorization/pushed-authorization.ts',
      'pushedAuthorizationSchema',
    ),
  clientAssertionMembers: () => clientMembersOf({ name: 'client-assertion' }),
  mtlsMembers: () => clientMembersOf({ name: 'mtls' }),
  signInMembers: () => clientMembersOf({ name: 'sign-in', account: {} }),
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
