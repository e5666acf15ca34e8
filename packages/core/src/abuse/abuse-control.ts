import * as v from 'valibot'
import { configurationObject, lifetimeSchema, type OptionsOf } from '../config-schema.ts'

const count = v.pipe(
  v.number('must be a number'),
  v.check(
    (value) => Number.isSafeInteger(value) && value >= 1 && value <= 1_000_000,
    'must be a whole number from 1 to 1000000',
  ),
)

const windowEntries = (failures: number, window: number) => ({
  failures: v.optional(count, failures),
  /** The length of the window in seconds. */
  window: v.optional(lifetimeSchema, window),
})

const windowSchema = (failures: number, window: number) => configurationObject(windowEntries(failures, window))

/** Limits the failures in a window of time. Beyond the limit, the response is 429 until the window ends. */
export type FailureLimit = OptionsOf<ReturnType<typeof windowSchema>>

const windowLimit = (failures: number, window: number) => v.optional(windowSchema(failures, window), {})

/** The number of sources that together can use up the limit of a client, by default. */
const sources = 5

const clientSchema = v.pipe(
  configurationObject({
    ...windowEntries(100, 60),
    /** The limit for one source: an IPv4 address or a 48-bit IPv6 network. Default: a fifth of `failures`, rounded up. */
    perAddress: v.optional(count),
  }),
  v.check(({ failures, perAddress = 1 }) => perAddress <= failures, 'must have a perAddress of at most failures'),
  v.transform(({ failures, window, perAddress = Math.ceil(failures / sources) }) => ({ failures, window, perAddress })),
)

/** Limits the failures of all users through one client, with a lower limit for each source. */
export type ClientLimit = OptionsOf<typeof clientSchema>

const day = 86_400

/** The schemas of the sections; all but `passwords` can also be `false`. */
export const passwords = v.optional(
  configurationObject({
    /** Default: 5 in 900 s. */
    perUserAndAddress: windowLimit(5, 900),
    /** For a user over all addresses except those where the user has logged in. Default: 20 in 600 s. */
    perUser: windowLimit(20, 600),
    /**
     * For a client over all users, except attempts from an address where the user has logged in. Default: 100 failures
     * in 60 s, of which 20 from one source.
     */
    perClient: v.optional(clientSchema, {}),
    /** Seconds for which an address counts as the user's own after a login. Default: 30 days. */
    rememberAddress: v.optional(lifetimeSchema, 30 * day),
  }),
  {},
)

export const credentials = configurationObject({
  /** Default: 10 in 60 s. */
  perClientAndAddress: windowLimit(10, 60),
  /** Default: 50 in 60 s. */
  perAddress: windowLimit(50, 60),
})

export const validation = configurationObject({
  ...windowEntries(600, 60),
  /**
   * Limits all requests to these endpoints in the window, valid or not. Default: no limit. It costs a counter
   * operation in the storage for each request.
   */
  requests: v.optional(count),
})

export const waitingRequests = v.pipe(
  configurationObject({
    /** For one source: an IPv4 address or a 48-bit IPv6 network. Default: a tenth of `total`, rounded up. */
    perAddress: v.optional(count),
    /** For all callers together, also without an address. Default: 10,000. */
    total: v.optional(count, 10_000),
    /** The length of the window in seconds. Default: 600. */
    window: v.optional(lifetimeSchema, 600),
  }),
  v.check(({ perAddress = 1, total }) => perAddress <= total, 'must have a perAddress of at most total'),
  v.transform(({ perAddress, total, window }) => ({ perAddress: perAddress ?? Math.ceil(total / 10), total, window })),
)

const off = <S extends v.GenericSchema>(schema: S) =>
  v.optional(
    v.lazy(
      (input): v.GenericSchema<false | v.InferInput<S>, false | v.InferOutput<S>> =>
        input === false ? v.literal(false) : schema,
    ),
    {} as v.InferInput<S>,
  )

const everything = configurationObject({
  /** Limits for failed passwords. They cannot be disabled. */
  passwords,
  /** Limits for failed authentications of clients and scopes; `false` disables them. */
  credentials: off(credentials),
  /**
   * Limits, per address, the invalid tokens at the validation endpoints and userinfo; `false` disables it. Default: 600
   * in 60 s.
   */
  validation: off(validation),
  /**
   * Limits the requests that are stored although no user has signed in: authorization requests that wait for their
   * users, and pushed requests and device codes of public clients. Each 4 KB count as one request. `false` disables it.
   */
  waitingRequests: off(waitingRequests),
})

/**
 * Limits on guessing. Every number has a default.
 *
 * @see docs/guides/abuse-control.md
 */
export type AbuseControlOptions = OptionsOf<typeof everything>

const always = { credentials: false, validation: false } as const

/**
 * `true` and an object enable all limits. `false`, the default, enables only those of passwords, which cannot be
 * disabled, and of waiting requests.
 */
export const abuseControlSchema = v.optional(
  v.pipe(
    v.unknown(),
    v.transform((input) => (input === true ? {} : input === false ? always : input)),
    everything,
  ),
  always,
)

export type AbuseControl = v.InferOutput<typeof everything>
export type Window = v.InferOutput<ReturnType<typeof windowLimit>>
