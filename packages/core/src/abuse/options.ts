import * as v from 'valibot'
import { configurationObject, lifetimeSchema } from '../configuration.ts'

/** Failures that are free, and then a delay after each that doubles. */
export interface DelayLimit {
  /** Attempts without delay, at least 1. */
  readonly attempts?: number
  /** Seconds after the last free attempt; doubled by every further one. */
  readonly delay?: number
  /** Seconds that it grows to at most. */
  readonly longestDelay?: number
}

/** Failures that are answered in a window of time; after them, 429 until its end. */
export interface WindowLimit {
  readonly failures?: number
  /** Seconds. */
  readonly window?: number
}

/** Failures of all users through one client, shared out between the sources that they come from. */
export interface ClientLimit extends WindowLimit {
  /** How many of them one source may take: an IPv4 address, or an IPv6 network of 48 bits. Default a fifth of `failures`, rounded up. */
  readonly perAddress?: number
}

/**
 * How guessing is slowed down. Every number has a default.
 *
 * @see docs/guides/abuse-control.md
 */
export interface AbuseControlOptions {
  /** Failed passwords. They are always limited; these are the numbers. */
  readonly passwords?: {
    /** Default 5 attempts, then 1 s doubling to 900 s. */
    readonly perUserAndAddress?: DelayLimit
    /** Over all addresses but those where the user has logged in; default 20 attempts, then 1 s doubling to 30 s. */
    readonly perUser?: DelayLimit
    /** Over all users but where the user has logged in from the address; default 100 in 60 s, of which 20 from one source. */
    readonly perClient?: ClientLimit
    /** Seconds after which a failure is forgotten; default 3600. */
    readonly forgetAfter?: number
    /** Seconds for which an address counts as one of the user's after a login there; default 30 days. */
    readonly rememberAddress?: number
  }
  /** Failed authentications of clients and scopes, or `false`. */
  readonly credentials?:
    | false
    | {
        /** Default 10 in 60 s. */
        readonly perClientAndAddress?: WindowLimit
        /** Default 50 in 60 s. */
        readonly perAddress?: WindowLimit
      }
  /** Tokens that the validation endpoints and userinfo find invalid, for each address, or `false`; default 600 in 60 s. */
  readonly validation?:
    | false
    | (WindowLimit & {
        /** All requests to them in the window, valid or not; default without limit. Costs every request a count in the store. */
        readonly requests?: number
      })
}

const count = v.pipe(
  v.number('must be a number'),
  v.check(
    (value) => Number.isSafeInteger(value) && value >= 1 && value <= 1_000_000,
    'must be a whole number from 1 to 1000000',
  ),
)

const delayLimit = (attempts: number, longestDelay: number) =>
  v.optional(
    v.pipe(
      configurationObject({
        attempts: v.optional(
          v.pipe(
            count,
            // Each is a record, and is looked for one after the other where many come at once.
            v.maxValue(1000, 'must be a whole number from 1 to 1000'),
          ),
          attempts,
        ),
        delay: v.optional(lifetimeSchema, 1),
        longestDelay: v.optional(lifetimeSchema, longestDelay),
      }),
      v.check(
        ({ delay, longestDelay: longest }) => delay <= longest,
        'must have a longestDelay that is no shorter than delay',
      ),
    ),
    {},
  )

const windowEntries = (failures: number, window: number) => ({
  failures: v.optional(count, failures),
  window: v.optional(lifetimeSchema, window),
})

const windowLimit = (failures: number, window: number) =>
  v.optional(configurationObject(windowEntries(failures, window)), {})

/** How many sources it takes to use up what a client is allowed. */
const sources = 5

const clientLimit = v.optional(
  v.pipe(
    configurationObject({ ...windowEntries(100, 60), perAddress: v.exactOptional(count) }),
    v.check(
      ({ failures, perAddress = 1 }) => perAddress <= failures,
      'must have a perAddress that is no more than failures',
    ),
    v.transform(({ failures, window, perAddress = Math.ceil(failures / sources) }) => ({
      failures,
      window,
      perAddress,
    })),
  ),
  {},
)

const day = 86_400

/** The parts of an object of options; `credentials` and `validation` may also be `false`. */
export const passwords = v.optional(
  configurationObject({
    perUserAndAddress: delayLimit(5, 900),
    perUser: delayLimit(20, 30),
    perClient: clientLimit,
    forgetAfter: v.optional(lifetimeSchema, 3600),
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

const off = <S extends v.GenericSchema>(schema: S) =>
  v.optional(
    v.lazy(
      (input): v.GenericSchema<false | v.InferInput<S>, false | v.InferOutput<S>> =>
        input === false ? v.literal(false) : schema,
    ),
    {} as v.InferInput<S>,
  )

const everything = configurationObject({ passwords, credentials: off(credentials), validation: off(validation) })

const passwordsOnly = { credentials: false, validation: false } as const

/** `true` is all of it, and so is an object; `false`, the default, is the limit of passwords, which is never off. */
export const abuseControlSchema = v.optional(
  v.pipe(
    v.unknown(),
    v.transform((input) => (input === true ? {} : input === false ? passwordsOnly : input)),
    everything,
  ),
  passwordsOnly,
)

export type AbuseControl = v.InferOutput<typeof everything>
export type Delays = AbuseControl['passwords']['perUser']
export type Window = v.InferOutput<ReturnType<typeof windowLimit>>
