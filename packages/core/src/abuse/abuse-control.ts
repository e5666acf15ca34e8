import * as v from 'valibot'
import { configurationObject, lifetimeSchema } from '../config-schema.ts'

/** Limits the failures in a window of time. Beyond the limit, the response is 429 until the window ends. */
export interface FailureLimit {
  readonly failures?: number | undefined
  /** The length of the window in seconds. */
  readonly window?: number | undefined
}

/** Limits the failures of all users through one client, with a lower limit for each source. */
export interface ClientLimit extends FailureLimit {
  /** The limit for one source: an IPv4 address or a 48-bit IPv6 network. Default: a fifth of `failures`, rounded up. */
  readonly perAddress?: number | undefined
}

/**
 * Limits on guessing. Every number has a default.
 *
 * @see docs/guides/abuse-control.md
 */
export interface AbuseControlOptions {
  /** Limits for failed passwords. They cannot be disabled. */
  readonly passwords?:
    | {
        /** Default: 5 in 900 s. */
        readonly perUserAndAddress?: FailureLimit | undefined
        /** For a user over all addresses except those where the user has logged in. Default: 20 in 600 s. */
        readonly perUser?: FailureLimit | undefined
        /**
         * For a client over all users, except attempts from an address where the user has logged in. Default: 100 failures
         * in 60 s, of which 20 from one source.
         */
        readonly perClient?: ClientLimit | undefined
        /** Seconds for which an address counts as the user's own after a login. Default: 30 days. */
        readonly rememberAddress?: number | undefined
      }
    | undefined
  /** Limits for failed authentications of clients and scopes; `false` disables them. */
  readonly credentials?:
    | false
    | {
        /** Default: 10 in 60 s. */
        readonly perClientAndAddress?: FailureLimit | undefined
        /** Default: 50 in 60 s. */
        readonly perAddress?: FailureLimit | undefined
      }
    | undefined
  /**
   * Limits, per address, the invalid tokens at the validation endpoints and userinfo; `false` disables it. Default: 600
   * in 60 s.
   */
  readonly validation?:
    | false
    | (FailureLimit & {
        /**
         * Limits all requests to these endpoints in the window, valid or not. Default: no limit. It costs a counter
         * operation in the storage for each request.
         */
        readonly requests?: number | undefined
      })
    | undefined
  /**
   * Limits the requests that are stored although no user has signed in: authorization requests that wait for their
   * users, and pushed requests and device codes of public clients. Each 4 KB count as one request. `false` disables it.
   */
  readonly waitingRequests?:
    | false
    | {
        /** For one source: an IPv4 address or a 48-bit IPv6 network. Default: a tenth of `total`, rounded up. */
        readonly perAddress?: number | undefined
        /** For all callers together, also without an address. Default: 10,000. */
        readonly total?: number | undefined
        /** The length of the window in seconds. Default: 600. */
        readonly window?: number | undefined
      }
    | undefined
}

const count = v.pipe(
  v.number('must be a number'),
  v.check(
    (value) => Number.isSafeInteger(value) && value >= 1 && value <= 1_000_000,
    'must be a whole number from 1 to 1000000',
  ),
)

const windowEntries = (failures: number, window: number) => ({
  failures: v.optional(count, failures),
  window: v.optional(lifetimeSchema, window),
})

const windowLimit = (failures: number, window: number) =>
  v.optional(configurationObject(windowEntries(failures, window)), {})

/** The number of sources that together can use up the limit of a client, by default. */
const sources = 5

const clientLimit = v.optional(
  v.pipe(
    configurationObject({ ...windowEntries(100, 60), perAddress: v.optional(count) }),
    v.check(({ failures, perAddress = 1 }) => perAddress <= failures, 'must have a perAddress of at most failures'),
    v.transform(({ failures, window, perAddress = Math.ceil(failures / sources) }) => ({
      failures,
      window,
      perAddress,
    })),
  ),
  {},
)

const day = 86_400

/** The schemas of the sections; all but `passwords` can also be `false`. */
export const passwords = v.optional(
  configurationObject({
    perUserAndAddress: windowLimit(5, 900),
    perUser: windowLimit(20, 600),
    perClient: clientLimit,
    rememberAddress: v.optional(lifetimeSchema, 30 * day),
  }),
  {},
)

export const credentials = configurationObject({
  perClientAndAddress: windowLimit(10, 60),
  perAddress: windowLimit(50, 60),
})

export const validation = configurationObject({
  ...windowEntries(600, 60),
  requests: v.optional(count),
})

export const waitingRequests = v.pipe(
  configurationObject({
    perAddress: v.optional(count),
    total: v.optional(count, 10_000),
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
  passwords,
  credentials: off(credentials),
  validation: off(validation),
  waitingRequests: off(waitingRequests),
})

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
