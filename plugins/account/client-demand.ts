import { defineFields, defineGrantCheck, type EndpointKit, member, type PluginPart } from '@grantry/core'
import * as v from 'valibot'
import { keptRecord } from '../shared/kept-record.ts'

/** Clients that demand a second factor. */
export interface ClientDemands {
  readonly parts: readonly PluginPart[]
  /** Stores that a client demands a second factor, so that all processes know. */
  note(kit: EndpointKit): Promise<void>
  /** Whether a client demands a second factor, or did so in the last year. */
  exist(kit: EndpointKit): Promise<boolean>
}

/** The member with which a client demands a second factor. */
export const demandMembers = {
  /**
   * Whether the client gets tokens only of users who have proved a second factor. A user without one sets it up during
   * the sign-in. Requires `accountPage()` with `secondFactors`. Default: `false`.
   */
  requireSecondFactor: member(v.optional(v.boolean('must be true or false')), {
    title: 'Require a second factor',
    text: 'Users prove a second factor, or set one up during the sign-in. Tokens that were issued before are not refreshed without one.',
    group: 'sign-in',
  }),
}

/** Clients in the storage are read when they are used, by one process: the others must know of the demand, too. */
const key = 'clients that demand a second factor'

/** Seconds: a year. */
const memory = 31_536_000

/** Checks each grant for such a client: a refresh token or the code of a device can be older than the demand. */
const tokenCheck = defineGrantCheck({
  grantTypes: 'all',
  params: v.object({}),
  check({ client, subject }, kit) {
    if (client.requireSecondFactor !== true || subject === undefined || subject.amr.includes('mfa')) return undefined
    throw kit.refuse('invalid_grant', 'The client requires a second factor of its users', 'second_factor_missing')
  },
})

/** @param isPossible whether users can set up a second factor */
export function clientDemands(isPossible: boolean): ClientDemands {
  let isKnown = false
  const noted = new Set<string>()
  return {
    parts: [
      defineFields({
        client: demandMembers,
        checkClient({ requireSecondFactor }) {
          if (requireSecondFactor !== true) return undefined
          isKnown = true
          if (isPossible) return undefined
          const problem = 'needs secondFactors on the account page, with which users set up a factor'
          return { member: 'requireSecondFactor', problem }
        },
      }),
      tokenCheck,
    ],
    async note(kit) {
      // Once for each process and issuer.
      if (noted.has(kit.issuer)) return
      await kit.records.put(key, true, kit.now() + memory, keptRecord)
      noted.add(kit.issuer)
    },
    exist: async (kit) => isKnown || (await kit.records.get(key, v.boolean())) === true,
  }
}
