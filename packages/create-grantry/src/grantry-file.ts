import type { Part } from './part.ts'

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
  readonly users: Part
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
  // The storage of a Worker comes with its requests.
  const isPassed = storage.code === ''
  const more = isPassed
    ? "Partial<ProviderOptions> & Pick<ProviderOptions, 'storage'>"
    : 'Partial<ProviderOptions> = {}'
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
 * Creates the provider. At an http issuer, as during development, the terminal shows each refused request and its reason.
 *
 * @param more options instead of those below, such as another storage in a test
 */
export async function createGrantry(env: Environment, more: ${more}): Promise<Provider> {
  const issuer = required(env, 'ISSUER')
${all('preparation')}\
  const provider: Provider = await createProvider({
    issuer,
    // Kept in the storage, so that a restart ends no session and no token.
    keys: storedKeys({ encryptionSecret: required(env, 'GRANTRY_KEY_SECRET') }),
${isPassed ? '' : `    storage: more.storage ?? ${storage.code},\n`}\
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
    // It requires no authentication.
    endpoints: { accessTokenValidation: false },
    ...more,
  })
  return ${users.result ?? 'provider'}
}
`
}
