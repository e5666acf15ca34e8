import { configurationObject, type OptionsOf } from '@grantry/core'
import * as v from 'valibot'
import { refreshTokenOption } from '../shared/client-members.ts'
import { functionSchema, seconds, wholeNumber, wholeSeconds } from '../shared/config-schema.ts'
import type { SendRequest } from '../shared/fetched-uri.ts'
import { hostPolicies } from '../shared/host-policy.ts'

const policies = ['allow', 'ask', 'refuse'] as const
const policySchema = v.picklist(policies, 'must be "allow", "ask" or "refuse"')
const names = v.array(v.string('must be a string'), 'must be an array of strings')

/** What clients of a host can do. `ask`: users are asked at each sign-in. `allow`: a consent can be remembered. */
export type HostPolicy = (typeof policies)[number]

export const clientMetadataSchema = configurationObject({
  /** The scopes that clients can ask for. A document can only name fewer. */
  scopes: v.pipe(names, v.minLength(1, 'must not be empty')),
  /** The grant types that clients can use. A document can only name fewer. */
  grantTypes: v.optional(names, ['authorization_code', 'refresh_token']),
  /** The refresh tokens of these clients. */
  refreshToken: refreshTokenOption,
  /** What clients of a host can do, by the host of their ids. The first pattern that fits counts. */
  hosts: hostPolicies(policySchema),
  /** What the clients of all other hosts can do. */
  otherHosts: v.optional(policySchema, 'ask'),
  /** Seconds for the whole response. Shorter than `hostTimeLimit`, which limits the look-up. */
  timeout: v.optional(seconds(0.1, 10), 3),
  /** Bytes of a document. */
  maxSize: v.optional(wholeNumber(256, 65_536), 5120),
  /**
   * Seconds for which a document is used if its response names no lifetime. Every document is used for at least 30
   * seconds, and at most a day.
   */
  defaultLifetime: v.optional(wholeSeconds(30, 86_400), 300),
  /** Documents that the requests of one address can make the provider fetch in a minute. */
  maxFetchesPerAddress: v.optional(wholeNumber(1, 10_000), 20),
  /** Documents that all requests together can make this process fetch in a minute. */
  maxFetches: v.optional(wholeNumber(1, 100_000), 600),
  /** Allows hosts of the local network and, for tests, `http` on this machine. */
  allowPrivateAddresses: v.optional(v.boolean('must be true or false'), false),
  /** Replaces the requests, for example to send them through a proxy. The addresses of hosts are then not checked. */
  fetch: functionSchema<SendRequest>(),
})

export type ClientMetadataOptions = OptionsOf<typeof clientMetadataSchema>
export type Settings = v.InferOutput<typeof clientMetadataSchema>
