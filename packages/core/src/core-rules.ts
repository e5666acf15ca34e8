// The rules for options that work but should change. They run at the start, and in `provider.findings()`.
import { allowsRefreshToken } from './grants/scope-policy.ts'
import { isUnencrypted } from './options.ts'
import type { NamedRule, Rule, RuleFacts, RuleFinding, RuleMatch } from './parts/rule.ts'
import type { Services } from './services.ts'
import { settles } from './startup-checks.ts'

interface CoreRule extends Omit<Rule, 'at' | 'check'> {
  readonly check: (facts: RuleFacts & Pick<Services, 'registry' | 'users'>) => readonly RuleMatch[]
}

const matchAt = (where: string, reason: string): readonly RuleMatch[] => [{ where, reason }]

/** The rules of the core. Those of a plugin are in `rules` of `defineFields()`. */
export const coreRules: readonly CoreRule[] = [
  {
    id: 'passwords-unchecked',
    severity: 'warning',
    remedy: 'add password(), signIn(), loginPage(), or passwords of @grantry/core',
    source: 'docs/guides/embedding.md',
    check: ({ users, registry }) =>
      users.authenticate !== undefined && !registry.capabilities.has('passwords')
        ? matchAt('users.authenticate', 'No plugin has the capability passwords, so users.authenticate is never called')
        : [],
  },
  {
    id: 'client-cannot-succeed',
    severity: 'warning',
    remedy: 'complete the client, or remove it',
    source: 'docs/guides/configuration.md',
    check({ clients, registry }) {
      const redeemer = registry.redeemerOf('refresh')?.grantType
      const why = redeemer === undefined ? 'no plugin redeems refresh tokens' : `not the grant type ${redeemer}`
      return clients.flatMap(({ clientId, enabled, grantTypes, scopes }, index) =>
        !enabled || !allowsRefreshToken(scopes) || (redeemer !== undefined && grantTypes.includes(redeemer))
          ? []
          : matchAt(
              `clients[${index}].scopes`,
              `${clientId} has the scope offline_access but ${why}, so it gets no refresh tokens`,
            ),
      )
    },
  },
  {
    id: 'demand-unchecked',
    severity: 'warning',
    remedy: 'add the plugin that checks it',
    source: 'RFC 9700 section 2.1.1',
    check: ({ registry }) =>
      [...registry.grants.values()].flatMap(({ grantType, stored }) => {
        const demand = stored?.publicClientsDemand
        if (demand === undefined || settles(registry, grantType, demand)) return []
        return matchAt(
          'plugins',
          `No plugin checks ${demand}, so a stolen credential of ${grantType} can be redeemed, and public clients cannot use it`,
        )
      }),
  },
  {
    id: 'redirect-without-tls',
    severity: 'error',
    remedy: 'use https, or a loopback URI',
    source: 'RFC 9700 section 2.6',
    // A disabled client gets no response at any URI.
    check: ({ clients }) =>
      clients.flatMap(({ clientId, enabled, redirectUris, postLogoutRedirectUris }, index) =>
        Object.entries({ redirectUris, postLogoutRedirectUris }).flatMap(([list, uris]) =>
          uris.flatMap((uri, at) =>
            enabled && isUnencrypted(uri)
              ? matchAt(
                  `clients[${index}].${list}[${at}]`,
                  `${uri} of ${clientId} is http: an attacker on the network can read its codes, or replace its page`,
                )
              : [],
          ),
        ),
      ),
  },
]

/**
 * Records an event for each setting that works but should change, as the rules of plugins and of the core say. Returns what they
 * find for a check.
 */
export function openRules({ registry, clients, scopes, users, recorder }: Services, issuer: string) {
  const ofCore = coreRules.map(
    (rule): NamedRule => ({
      ...rule,
      warning: rule.id.replaceAll('-', '_'),
      // The rules of a plugin receive neither the other plugins nor the functions of the host.
      check: (facts) => rule.check({ ...facts, registry, users }),
    }),
  )
  const findingsAt = (moment: 'start' | 'check') => {
    const facts: RuleFacts = {
      issuer,
      grantTypes: [...registry.grants.keys()],
      clients: clients.all,
      scopes: scopes.current.all,
    }
    return [...registry.rules, ...ofCore].flatMap((rule) =>
      [undefined, 'both', moment].includes(rule.at)
        ? rule.check(facts).map(({ where, reason }) => ({ ...rule, where, reason }))
        : [],
    )
  }
  const startup = recorder.start()
  for (const { reason, warning, remedy, source } of findingsAt('start')) {
    recorder.record(startup, {
      type: 'startup_warning',
      reason: warning,
      message: `${reason}; ${remedy} (${source})`,
    })
  }
  return (): readonly RuleFinding[] => findingsAt('check').map(({ at, check, warning, ...finding }) => finding)
}
