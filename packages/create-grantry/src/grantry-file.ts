import type { Part } from './part.ts'
import type { UsersPart } from './users.ts'

/** Returns import statements, sorted. */
function importsOf(parts: readonly Part[]): string {
  const names = new Map<string, Set<string>>()
  for (const part of parts) {
    for (const [module, list] of Object.entries(part.imports ?? {})) {
      names.set(module, new Set([...(names.get(module) ?? []), ...list]))
    }
  }
  return [...names]
    .sort(([first], [second]) => (first < second ? -1 : 1))
    .map(([module, list]) => `import { ${[...list].join(', ')} } from '${module}'\n`)
    .join('')
}

/** The parts of `grantry.ts`. */
export interface GrantryParts {
  readonly storage: Part
  readonly users: UsersPart
  readonly plugins: Part
}

const core: Part = {
  imports: { '@grantry/core': ['createProvider', 'hashSecret', 'type Provider', 'type ProviderOptions', 'storedKeys'] },
  code: '',
  packages: [],
}

/** Returns `grantry.ts`, which creates the provider. */
export function grantryFile({ storage, users, plugins }: GrantryParts): string {
  const parts = [core, storage, users, plugins]
  const all = (member: 'declarations' | 'preparation'): string => parts.map((part) => part[member] ?? '').join('')
  const stored = `  const storage = more.storage ?? ${storage.code}\n`
  const storing = users.ends === undefined ? 'storage' : `storage: ${users.ends}`
  // The storage of a Worker comes with its requests.
  const isPassed = storage.code === ''
  const more = `more: Partial<ProviderOptions>${isPassed ? " & Pick<ProviderOptions, 'storage'>" : ''}`
  const members = parts.flatMap((part) => part.members ?? []).map((line) => `    ${line}\n`)
  return `\
${importsOf(parts)}
${all('declarations')}\
/** The settings in .env. */
export type Environment = Readonly<Record<string, string | undefined>>

/** @throws Error if the setting is missing. */
export function required(env: Environment, name: string): string {
  const value = env[name]
  if (value === undefined || value === '') throw new Error(\`\${name} is not set: see .env\`)
  return value
}

/**
 * Returns the options of the provider.
 *
 * @param more options instead of those below, such as another storage in a test
 * @param provider returns the provider, once it exists
 */
export async function grantryOptions(
  env: Environment,
  ${more},
  ${users.needsProvider === true ? 'provider' : '_provider'}: () => Provider,
): Promise<ProviderOptions> {
  const issuer = required(env, 'ISSUER')
${isPassed ? '' : stored}${all('preparation')}\
  return {
    issuer,
    // Kept in the storage, so that a restart ends no session and no token.
    keys: storedKeys({ encryptionSecret: required(env, 'GRANTRY_KEY_SECRET') }),
    users: ${users.code},
    clients: [
      {
        clientId: 'web',
        clientName: 'Demo',
        secrets: [hashSecret(required(env, 'CLIENT_SECRET'))],
        grantTypes: ['authorization_code', 'refresh_token'],
        scopes: ['openid', 'profile', 'email', 'offline_access'],
        redirectUris: [\`\${issuer}/callback\`],
        postLogoutRedirectUris: [\`\${issuer}/\`],
        // An application of your own. Users are asked what another one may get.
        requireConsent: false,
      },
    ],
    plugins: ${plugins.code},
${members.join('')}\
    // This endpoint requires no authentication.
    endpoints: { accessTokenValidation: false },
    ...more,
${isPassed ? '' : `    ${storing},\n`}\
  }
}

/** Creates the provider. At an http issuer, as during development, the terminal shows each refused request and its reason. */
export async function createGrantry(env: Environment, ${more}${isPassed ? '' : ' = {}'}): Promise<Provider> {
  const provider: Provider = await createProvider(await grantryOptions(env, more, () => provider))
  return provider
}
`
}
