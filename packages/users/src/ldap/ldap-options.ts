import { configurationObject, isLoopbackHost, type OptionsOf, parseUrl } from '@grantry/core'
import * as v from 'valibot'

const text = (what: string) => v.pipe(v.string(`must be ${what}`), v.nonEmpty(`must be ${what}`))

// RFC 4512 section 1.4: a name or an object identifier. It is part of a filter, so nothing else is accepted.
const attribute = v.pipe(
  v.string('must be the name of an attribute'),
  v.regex(/^(?:[A-Za-z][A-Za-z0-9-]{0,99}|\d{1,9}(?:\.\d{1,9}){1,20})$/u, 'must be the name of an attribute'),
)

const filterForm = /^\([^\0]*\)$/u

const filter = v.pipe(
  v.string('must be a filter such as (objectClass=inetOrgPerson)'),
  v.regex(filterForm, 'must be a filter in parentheses, such as (objectClass=inetOrgPerson)'),
)

/** The attributes that disable accounts: of Active Directory, of 389 Directory Server, and of OpenLDAP with ppolicy. */
const activeAttributes = ['userAccountControl', 'nsAccountLock', 'pwdAccountLockedTime'] as const

const activeForm = `must be ${activeAttributes.map((name) => `"${name}"`).join(', ')}, or a filter that active users match`

const claimAttribute = v.union(
  [
    attribute,
    configurationObject({
      attribute,
      type: v.optional(v.picklist(['string', 'number', 'boolean', 'array']), 'string'),
    }),
  ],
  'must be the name of an attribute, or { "attribute": NAME, "type": "string", "number", "boolean" or "array" }',
)

const ldapUrl = 'must be a URL such as ldaps://ldap.example.com, without a path'

const isLdapUrl = (url: string): boolean => {
  if (!URL.canParse(url)) return false
  const { protocol, hostname, pathname, username, password, search, hash } = new URL(url)
  const isPlain = ['', '/'].includes(pathname) && [username, password, search, hash].every((part) => part === '')
  return /^ldaps?:$/u.test(protocol) && hostname !== '' && isPlain
}

const seconds = (least: number) =>
  v.pipe(
    v.number('must be a number of seconds'),
    v.minValue(least, `must be ${least} to 60 seconds`),
    v.maxValue(60, `must be ${least} to 60 seconds`),
  )

export const ldapEntries = {
  /** The URL of the directory: `ldaps://`, or `ldap://` with `startTls`. */
  url: v.pipe(v.string(ldapUrl), v.check(isLdapUrl, ldapUrl)),
  /** TLS on the port of `ldap://`. */
  startTls: v.optional(v.boolean('must be true or false'), false),
  /** Accepts passwords in plain text, in a network that encrypts. */
  plaintext: v.optional(v.boolean('must be true or false'), false),
  /** An account that can search below `baseDn`. */
  bindDn: text('the DN of the account that searches'),
  /** The password of `bindDn`. */
  bindPassword: text('the password of bindDn'),
  /** The DN below which the users are. */
  baseDn: text('the DN below which the users are'),
  /** `sub`: in the whole subtree. `one`: directly below `baseDn`. */
  scope: v.optional(v.picklist(['sub', 'one'], 'must be "sub" or "one"'), 'sub'),
  /** A filter that matches the entries of users. */
  filter: v.optional(filter, '(objectClass=person)'),
  /** The attribute that disables an account, or a filter that active users match. */
  active: v.optional(
    v.pipe(
      v.string(activeForm),
      v.check((active) => activeAttributes.some((name) => name === active) || filterForm.test(active), activeForm),
    ),
  ),
  /** The attributes with the `sub`, the names and the claims. */
  attributes: configurationObject({
    /** An attribute that never changes. */
    sub: v.optional(attribute, 'entryUUID'),
    /** The attributes that users can type. */
    username: v.union(
      [
        attribute,
        v.pipe(v.array(attribute), v.minLength(1, 'must not be empty'), v.maxLength(10, 'must be at most 10')),
      ],
      'must be the name of an attribute, or an array of them',
    ),
    /** Claims by their names, each with its attribute. */
    claims: v.optional(
      v.pipe(
        v.record(v.string(), claimAttribute, 'must be an object of claims'),
        v.check((claims) => !Object.hasOwn(claims, 'sub'), 'must not contain sub, which has an attribute of its own'),
      ),
      {},
    ),
  }),
  /** Connections that search, and as many that bind. */
  maxConnections: v.optional(
    v.pipe(
      v.number('must be a number'),
      v.integer('must be a whole number'),
      v.minValue(1, 'must be 1 to 1000'),
      v.maxValue(1000, 'must be 1 to 1000'),
    ),
    5,
  ),
  /** Seconds after which an operation fails, with the time to connect. */
  operationTimeout: v.optional(seconds(0.05), 5),
} as const

const isSecure = ({ url, startTls }: { readonly url: string; readonly startTls: boolean }): boolean =>
  startTls || url.toLowerCase().startsWith('ldaps:')

/** Whether passwords cross the network in plain text. */
export const isUnencrypted = (options: { readonly url: string; readonly startTls: boolean }): boolean =>
  !isSecure(options) && !isLoopbackHost(parseUrl(options.url)?.hostname)

const passwordOrFunction = v.union(
  [
    ldapEntries.bindPassword,
    v.custom<() => string | Promise<string>>((value) => typeof value === 'function', 'must be a function'),
  ],
  'must be the password of bindDn, or a function that returns it',
)

/** The options of `ldapUsers()`. A function for the password is called for each new connection, for one that changes. */
export const ldapUsersSchema = v.pipe(
  configurationObject({ ...ldapEntries, bindPassword: passwordOrFunction }),
  v.check(
    (options) => options.plaintext || !isUnencrypted(options),
    'would send passwords over the network in plain text; use ldaps://, or set startTls to true (or plaintext, in a network that encrypts)',
  ),
  v.check(
    ({ url, startTls }) => !startTls || !url.toLowerCase().startsWith('ldaps:'),
    'must not have startTls with ldaps://, which begins with TLS',
  ),
)

export type LdapUsersInput = OptionsOf<typeof ldapUsersSchema>
/** The options with defaults applied. */
export type LdapUsersOptions = v.InferOutput<typeof ldapUsersSchema>
