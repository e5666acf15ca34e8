import {
  type Client,
  configurationObject,
  defineFields,
  defineGrantCheck,
  definePlugin,
  type MembersOf,
  member,
  type OptionsOf,
  type Plugin,
  parseConfiguration,
} from '@grantry/core'
import * as v from 'valibot'
import { type ClientRule, clientRules, maxCodeLifetime } from './client-rules.ts'

const clientMembers = {
  /** `fapi2`: the client must meet the FAPI 2.0 Security Profile. */
  profile: member(v.optional(v.literal('fapi2', 'must be "fapi2"')), {
    title: 'Security profile',
    text: 'fapi2: it must meet the FAPI 2.0 Security Profile.',
    group: 'security',
  }),
}

declare module '@grantry/core' {
  interface ClientMembers extends MembersOf<typeof clientMembers> {}
}

export const settingsSchema = configurationObject({
  /** `all`: every client must meet the profile; `marked`: those with `profile: 'fapi2'`. */
  clients: v.optional(v.picklist(['all', 'marked'], 'must be "all" or "marked"'), 'marked'),
})

export { settingsSchema as fapi2Schema }
export type Fapi2Options = OptionsOf<typeof settingsSchema>

/**
 * The FAPI 2.0 Security Profile: refuses clients whose configuration does not meet the profile, at startup, and
 * requests of clients that do not meet it.
 *
 * @throws TypeError with one sentence for a mistake in the options.
 * @see FAPI 2.0 Security Profile, section 5.3.2; docs/guides/fapi2.md
 */
export function fapi2(options: Fapi2Options = {}): Plugin {
  const { clients } = parseConfiguration(settingsSchema, options, 'fapi2()')
  const applies = (client: Client): boolean => clients === 'all' || client.profile === 'fapi2'

  return definePlugin('fapi2', [
    defineFields({
      client: clientMembers,
      checkClient(client) {
        if (!applies(client)) return undefined
        const broken: ClientRule | undefined = clientRules.find(({ isMet }) => !isMet(client))
        return broken && { member: broken.member, problem: `${broken.demand} (FAPI 2.0, ${broken.section})` }
      },
    }),
    // 5.3.2.1, 4: sender-constrained access tokens.
    defineGrantCheck({
      grantTypes: 'all',
      params: v.object({}),
      check({ client, confirmation }, kit) {
        if (!applies(client) || confirmation !== undefined) return undefined
        const text = 'The client requires a DPoP proof or a client certificate'
        throw kit.refuse('invalid_request', text, 'key_missing')
      },
    }),
    // 5.3.2.1, 11: a login page can set the lifetime of one code.
    defineGrantCheck({
      grantTypes: ['authorization_code'],
      params: v.object({}),
      authorization: {
        params: v.object({}),
        check({ client, lifetime }, kit) {
          if (!applies(client) || lifetime <= maxCodeLifetime) return undefined
          const text = `A code must be valid for at most ${maxCodeLifetime} seconds`
          throw kit.refuse('invalid_request', text, 'code_lifetime')
        },
      },
      check: () => undefined,
    }),
  ])
}
