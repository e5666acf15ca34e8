import { configurationObject } from '@grantry/core'
import * as v from 'valibot'
import { functionSchema, seconds } from './config-schema.ts'
import { fetchedUriProblem, type SendRequest } from './fetched-uri.ts'

export const jwksUriSettingsSchema = configurationObject({
  /** Seconds for the whole response. */
  timeout: v.optional(seconds(0.1, 30), 5),
  /** Bytes of the response. */
  maxSize: v.optional(v.pipe(v.number('must be a number of bytes'), v.minValue(1, 'must be 1 or more bytes')), 65_536),
  /** Seconds after which the keys are fetched again: how long a key is accepted that its owner has removed. */
  maxAge: v.optional(seconds(1, 86_400), 600),
  /** Seconds from the end of an attempt that has failed to the next one, and between two because of unknown keys. */
  cooldown: v.optional(seconds(1, 3600), 30),
  /**
   * Requests that wait for keys at the same time; more are refused. An eighth of them can wait for the keys at one URI.
   */
  maxWaiting: v.optional(
    v.pipe(
      v.number('must be a number'),
      v.integer('must be a whole number'),
      v.minValue(8, 'must be 8 to 10,000'),
      v.maxValue(10_000, 'must be 8 to 10,000'),
    ),
    256,
  ),
  /**
   * Allows IP addresses and names of the local network in `jwksUri`, and hosts whose names have addresses that are not
   * public. Requests are then sent with the global `fetch`.
   */
  allowPrivateAddresses: v.optional(v.boolean('must be true or false'), false),
  /** Replaces the requests, for example to send them through a proxy. The addresses of hosts are then not checked. */
  fetch: functionSchema<SendRequest>(),
})

export type JwksUriSettings = v.InferOutput<typeof jwksUriSettingsSchema>

/** The schema of `jwksUri`. Which address its host has is checked when the keys are fetched. */
export const jwksUriSchema = (allowPrivateAddresses: boolean) =>
  v.pipe(
    v.string('must be a URL'),
    v.rawCheck(({ dataset, addIssue }) => {
      const message = dataset.typed ? fetchedUriProblem(dataset.value, { allowPrivateAddresses }) : undefined
      if (message !== undefined) addIssue({ message })
    }),
  )
