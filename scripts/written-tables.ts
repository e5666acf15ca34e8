// The tables in guides that are written from declarations, each between two marks:
// `<!-- written: members -->` and `<!-- end of members -->`. Tables of options have the comments and defaults of their schemas.

import { readFileSync } from 'node:fs'
import { tags } from '../packages/administration/src/kinds/kind.ts'
import { kinds } from '../packages/administration/src/kinds/kinds.ts'
import { memberGroups } from '../packages/core/src/directory/member.ts'
import { isJsonObject } from '../packages/core/src/json.ts'
import { directorySchemasOf } from '../packages/core/src/parts/registry.ts'
import {
  createNamedPlugin,
  namedPluginSchema,
  pluginNames,
} from '../packages/server/src/configuration/named-plugins.ts'
import { optionsSchema as authorizationEndpointSchema } from '../plugins/authorization-endpoint/authorization-options.ts'
import { backChannelLogoutSchema } from '../plugins/back-channel-logout/back-channel-logout.ts'
import { clientMetadataSchema } from '../plugins/client-metadata/client-metadata.ts'
import { deviceAuthorizationSchema } from '../plugins/device-authorization/device-authorization.ts'
import { dpopSchema } from '../plugins/dpop/dpop.ts'
import { endSessionSchema } from '../plugins/end-session/end-session.ts'
import { mtlsSchema } from '../plugins/mtls/mtls.ts'
import { recoveryCodesSchema } from '../plugins/one-time-password/recovery-codes.ts'
import { totpSchema } from '../plugins/one-time-password/totp.ts'
import { passkeysSchema } from '../plugins/passkeys/passkeys.ts'
import { pushedAuthorizationSchema } from '../plugins/pushed-authorization/pushed-authorization.ts'
import { selfServiceSchema } from '../plugins/self-service/settings.ts'
import { newPasswordsSchema } from '../plugins/shared/new-passwords.ts'
import { signInSchema } from '../plugins/sign-in/sign-in.ts'
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

/** Returns the comments of the entries of an object in a source, with those of the objects that it spreads, by name. */
function commentsIn(place: string): ReadonlyMap<string, string> {
  const [source = '', name = ''] = place.split('#')
  const text = readFileSync(new URL(`../${source}`, import.meta.url), 'utf8')
  const declaration = new RegExp(`const ${name} = (?:configurationObject\\()?\\{\\n(.*?)^\\}`, 'msu')
  const [, object = ''] = declaration.exec(text) ?? []
  const entry = /^ {2}(?:\/\*\*((?:(?!\*\/).)*)\*\/\n {2}(\w+):|\.\.\.(\w+),)/gmsu
  return new Map(
    [...object.matchAll(entry)].flatMap(([, comment = '', option = '', spread]) => {
      if (spread === undefined) return [[option, comment.replaceAll(/\n\s*\* ?/gu, ' ').trim()] as const]
      const [, from = ''] = new RegExp(`import \\{[^}]*\\b${spread}\\b[^}]*\\} from '([^']+)'`, 'u').exec(text) ?? []
      const path = from === '' ? source : new URL(from, `file:///${source}`).pathname.slice(1)
      return [...commentsIn(`${path}#${spread}`)]
    }),
  )
}

/** @param inComment the default as the comment says it, where the value itself says less */
function shownDefault(
  entry: { readonly type?: unknown; readonly default?: unknown },
  inComment: string | undefined,
): string {
  if (entry.type !== 'optional') return 'required'
  const values = [entry.default].flat().filter((value) => ['string', 'number', 'boolean'].includes(typeof value))
  if (values.length > 0) return values.map((value) => `\`${value}\``).join(', ')
  // An object has the defaults of its own options.
  return inComment ?? (isJsonObject(entry.default) ? '' : 'none')
}

/** @throws Error for an option without a comment */
const optionRows = ({ entries }: OptionsSchema, place: string): readonly string[] => {
  const comments = commentsIn(place)
  return [
    '| option | default | meaning |',
    '| --- | --- | --- |',
    ...Object.entries(entries).map(([option, entry]) => {
      const comment = comments.get(option)
      if (comment === undefined) throw new Error(`${place}: ${option} has no comment`)
      const [, meaning = comment, inComment] = /^(.*?) Default: ([^.]+)\.$/u.exec(comment) ?? []
      return `| \`${option}\` | ${shownDefault(entry, inComment)} | ${meaning} |`
    }),
  ]
}

/** The schemas of options, each with the constant of a source that has the comments. */
export const optionSchemas: Readonly<Record<string, readonly [schema: OptionsSchema, place: string]>> = {
  authorizationEndpoint: [
    authorizationEndpointSchema,
    'plugins/authorization-endpoint/authorization-options.ts#optionsSchema',
  ],
  backChannelLogout: [
    backChannelLogoutSchema,
    'plugins/back-channel-logout/back-channel-logout.ts#backChannelLogoutSchema',
  ],
  clientMetadata: [clientMetadataSchema, 'plugins/client-metadata/client-metadata-options.ts#clientMetadataSchema'],
  deviceAuthorization: [
    deviceAuthorizationSchema,
    'plugins/device-authorization/device-options.ts#deviceAuthorizationSchema',
  ],
  dpop: [dpopSchema, 'plugins/dpop/dpop.ts#dpopSchema'],
  endSession: [endSessionSchema, 'plugins/end-session/end-session.ts#endSessionSchema'],
  mtls: [mtlsSchema, 'plugins/mtls/mtls-settings.ts#settingsSchema'],
  newPasswords: [newPasswordsSchema, 'plugins/shared/new-passwords.ts#newPasswordsSchema'],
  passkeys: [passkeysSchema, 'plugins/passkeys/passkeys.ts#passkeysSchema'],
  pushedAuthorization: [
    pushedAuthorizationSchema,
    'plugins/pushed-authorization/pushed-authorization.ts#pushedAuthorizationSchema',
  ],
  recoveryCodes: [recoveryCodesSchema, 'plugins/one-time-password/recovery-codes.ts#recoveryCodesSchema'],
  selfService: [selfServiceSchema, 'plugins/self-service/settings.ts#selfServiceSchema'],
  signIn: [signInSchema, 'plugins/sign-in/sign-in.ts#signInSchema'],
  totp: [totpSchema, 'plugins/one-time-password/totp.ts#totpSchema'],
}

/** The members of the schema of a named plugin that are read here. */
interface NamedOptions {
  readonly wrapped?: NamedOptions
  readonly pipe?: readonly NamedOptions[]
  readonly entries?: Readonly<Record<string, NamedOptions>>
  readonly message?: unknown
}

/** The options of an object that a JSON configuration can have. */
const entriesOf = ({ entries, wrapped, pipe }: NamedOptions): readonly (readonly [string, NamedOptions])[] =>
  entries !== undefined
    ? Object.entries(entries).filter(([, option]) => option.wrapped?.message !== 'must be a function')
    : [wrapped, pipe?.[0]].flatMap((inner) => (inner ? entriesOf(inner) : []))

/** The names of options, with those of their members where the row has had them: few have their own prose. */
const optionNames = (schema: unknown, row: string): string =>
  entriesOf(schema as NamedOptions)
    .filter(([name]) => name !== 'name')
    .map(([name, option]) => {
      const members = entriesOf(option).map(([member]) => `\`${member}\``)
      return `\`${name}\`${row.includes(`\`${name}\` (`) ? ` (${members.join(', ')})` : ''}`
    })
    .join(', ')

/** The plugins that a configuration can name. The links to guides stay as they are written. */
const pluginRows = (guide: string): readonly string[] => {
  const rows = new Map([...guide.matchAll(/^\| `([\w-]+)` \|.*$/gmu)].map(([row, name = '']) => [name, row]))
  const order = [...rows.keys(), ...pluginNames]
  const names = [...pluginNames].sort((first, second) => order.indexOf(first) - order.indexOf(second))
  return [
    '| name | options | guide |',
    '| --- | --- | --- |',
    ...names.map((name) => {
      const row = rows.get(name) ?? ''
      const [, links = ''] = / \| ([^|]*) \|$/u.exec(row) ?? []
      const options = optionNames(namedPluginSchema(name), row)
      return `| \`${name}\` | ${options}${options === '' ? '' : ' '}| ${links} |`
    }),
  ]
}

const tables: Readonly<Record<string, (written: string) => readonly string[]>> = {
  ...Object.fromEntries(
    Object.entries(optionSchemas).map(([name, [schema, place]]) => [name, () => optionRows(schema, place)]),
  ),
  plugins: pluginRows,
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
    /(<!-- written: (\w+) -->\n)(.*?)(<!-- end of \2 -->\n)/gsu,
    (_, start: string, name: string, written: string, end: string) => {
      const table = tables[name]
      if (table === undefined) throw new Error(`No declarations write the table ${name}`)
      return `${start}\n${table(written).join('\n')}\n\n${end}`
    },
  )
