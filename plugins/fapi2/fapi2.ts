import {
  type Client,
  configurationObject,
  defineFields,
  defineGrantCheck,
  definePlugin,
  OAuthError,
  type Plugin,
  parseConfiguration,
} from '@grantry/core'
import * as v from 'valibot'
import { type ClientRule, clientRules } from './client-rules.ts'

declare module '@grantry/core' {
  interface ClientMembers {
    /** `fapi2`: the client must meet the FAPI 2.0 Security Profile. */
    profile?: 'fapi2' | undefined
  }
}

export const settingsSchema = configurationObject({
  /** `all`: every client must meet the profile; `marked`: those with `profile: 'fapi2'`. */
  clients: v.optional(v.picklist(['all', 'marked'], 'must be "all" or "marked"'), 'marked'),
})

export { settingsSchema as fapi2Schema }
export type Fapi2Options = v.InferInput<typeof settingsSchema>

const refuse = (text: string, reason: string): OAuthError =>
  new OAuthError('invalid_request', text, { reason: `plugin:fapi2:${reason}` })

const authorizationParams = v.object({
  code_challenge: v.optional(v.string()),
  code_challenge_method: v.optional(v.string()),
})

/**
 * The FAPI 2.0 Security Profile: refuses clients whose configuration does not meet it, at startup, and their requests
 * without what it requires.
 *
 * @throws TypeError with one sentence for a mistake in the options.
 * @see FAPI 2.0 Security Profile, section 5.3.2; docs/guides/fapi2.md
 */
export function fapi2(options: Fapi2Options = {}): Plugin {
  const { clients } = parseConfiguration(settingsSchema, options, 'fapi2()')
  const applies = (client: Client): boolean => clients === 'all' || client.profile === 'fapi2'

  return definePlugin('fapi2', [
    defineFields({
      client: { profile: v.optional(v.literal('fapi2', 'must be "fapi2"')) },
      checkClient(client) {
        if (!applies(client)) return undefined
        const broken: ClientRule | undefined = clientRules.find(({ isMet }) => !isMet(client))
        return broken && { member: broken.member, problem: `${broken.demand} (FAPI 2.0, ${broken.section})` }
      },
    }),
    defineGrantCheck({
      grantTypes: 'all',
      params: v.object({}),
      authorization: {
        params: authorizationParams,
        // 5.3.2.2, 5: PKCE with S256.
        check({ client, params }) {
          if (!applies(client)) return undefined
          if (params.code_challenge === undefined) throw refuse('The client requires a code_challenge', 'pkce_missing')
          if (params.code_challenge_method === 'S256') return undefined
          throw refuse('The code_challenge_method must be S256', 'pkce_plain')
        },
      },
      // 5.3.2.1, 4: sender-constrained access tokens.
      check({ client, confirmation }) {
        if (!applies(client) || confirmation !== undefined) return undefined
        throw refuse('The client requires a DPoP proof or a client certificate', 'key_missing')
      },
    }),
  ])
}
