import { defineGrant } from '@grantry/core'
import * as v from 'valibot'
import type { WorkloadTokens } from './tokens.ts'

const refusal = 'The assertion is not valid'

// No length limit here: an overlong assertion is refused with `invalid_grant`, like every other one.
const params = v.object({ assertion: v.string() })

/**
 * The token of a workload as an assertion of the JWT bearer grant, for clients that name only their id with it. The client
 * gets tokens for itself: there is no user.
 *
 * @see RFC 7523 section 2.1; MCP SEP-1933
 */
export const workloadGrant = (tokens: WorkloadTokens) =>
  defineGrant({
    grantType: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    variant: { parameter: 'assertion', matches: tokens.isOwn },
    params,
    refusal,
    scope: 'optional',
    defaultScopes: ({ scopes }) => scopes,
    publicClients: true,
    withoutUser: true,
    async handle({ client, params: { assertion }, scopes }, kit) {
      const outcome = await tokens.verify(assertion, client, kit)
      if (outcome !== true) throw kit.refuse('invalid_grant', refusal, outcome.reason, { detail: outcome.detail })
      return { scopes }
    },
  })
