import { configurationObject, type OptionsOf } from '@grantry/core'
import * as v from 'valibot'

const identifier = v.pipe(
  v.string('must be a name'),
  v.nonEmpty('must not be empty'),
  // PostgreSQL would shorten a longer name, to that of another column.
  v.check((name) => new TextEncoder().encode(name).length <= 63, 'must be at most 63 bytes'),
  v.check((name) => !/[\0\uD800-\uDFFF]/u.test(name), 'must not contain NUL or a half of a character'),
)

const claimColumn = v.union(
  [
    identifier,
    configurationObject({
      column: identifier,
      type: v.optional(v.picklist(['string', 'number', 'boolean', 'json']), 'string'),
    }),
  ],
  'must be the name of a column, or { "column": NAME, "type": "string", "number", "boolean" or "json" }',
)

const activeColumn = v.union(
  [
    identifier,
    configurationObject({
      column: identifier,
      equals: v.nullable(v.union([v.string(), v.number(), v.boolean()])),
    }),
  ],
  'must be the name of a column, or { "column": NAME, "equals": the value of active users }',
)

const columnsSchema = configurationObject({
  /** The id of a user, which never changes and never gets another owner. */
  sub: identifier,
  /** The name that users type. */
  username: identifier,
  /** A hash of a usual format. */
  password: identifier,
  /** A boolean, or the value that active users have. */
  active: v.optional(activeColumn),
  /** Claims by their names, each with its column. */
  claims: v.optional(
    v.pipe(
      v.record(v.string(), claimColumn, 'must be an object of claims'),
      v.check((claims) => !Object.hasOwn(claims, 'sub'), 'must not contain sub, which has a column of its own'),
    ),
    {},
  ),
})

const postgresqlUrl =
  'must be a URL such as postgresql://reader:password@127.0.0.1:5432/app; percent-encode special characters of the password, or set users.password'

export const sqlEntries = {
  /** The URL of PostgreSQL, with `?sslmode=verify-full` for TLS. */
  url: v.optional(
    v.pipe(
      v.string(postgresqlUrl),
      v.check((url) => URL.canParse(url) && /^postgres(?:ql)?:$/u.test(new URL(url).protocol), postgresqlUrl),
    ),
  ),
  /** The path of a SQLite file, instead of `url`. */
  file: v.optional(
    v.pipe(
      v.string('must be the path of a SQLite file'),
      v.check((file) => file !== '' && !/^:|^file:|\0/iu.test(file), 'must be the path of a SQLite file'),
    ),
  ),
  /** The schema of PostgreSQL. Default: `public`. */
  schema: v.optional(identifier),
  /** A table or a view. */
  table: identifier,
  /** The columns with the `sub`, the name, the password and the claims. */
  columns: columnsSchema,
  /** Whether `Alice` and `alice` are two users. */
  caseSensitive: v.optional(v.boolean('must be true or false'), false),
  /** Whether a sign-in replaces a cheap hash. */
  rehash: v.optional(v.boolean('must be true or false'), false),
  /** Connections of each process. */
  maxConnections: v.optional(
    v.pipe(
      v.number('must be a number'),
      v.integer('must be a whole number'),
      v.minValue(1, 'must be 1 to 1000'),
      v.maxValue(1000, 'must be 1 to 1000'),
    ),
    5,
  ),
  /** Seconds after which a query fails, with the time to connect. */
  operationTimeout: v.optional(
    v.pipe(
      v.number('must be a number of seconds'),
      v.minValue(0.05, 'must be 0.05 to 60 seconds'),
      v.maxValue(60, 'must be 0.05 to 60 seconds'),
    ),
    2,
  ),
  /** `false` behind a PgBouncer without support for them. */
  preparedStatements: v.optional(v.boolean('must be true or false'), true),
} as const

/** The options of `sqlUsers()` that are data. */
export const sqlUsersSchema = v.pipe(
  configurationObject(sqlEntries),
  v.check(
    ({ url, file }) => (url === undefined) !== (file === undefined),
    'must have either url (PostgreSQL) or file (SQLite)',
  ),
  v.check(({ url, schema }) => schema === undefined || url !== undefined, 'must not have a schema with a file'),
)

export type SqlUsersInput = OptionsOf<typeof sqlUsersSchema>
/** The options with defaults applied. */
export type SqlUsersOptions = v.InferOutput<typeof sqlUsersSchema>
