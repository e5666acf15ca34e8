import { type AtomicDriver, parseConfiguration, type Runtime } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { basic, sha256Of } from '@grantry/testing'
import { adapterOfThisRuntime } from '../../packages/server/src/adapter.ts'
import type { LoadedConfiguration } from '../../packages/server/src/configuration/load.ts'
import { openObservability } from '../../packages/server/src/observability/observability.ts'
import type { ServerEvent } from '../../packages/server/src/observability/server-event.ts'
import { sharedDriver } from '../../packages/server/src/reload/shared-driver.ts'
import { type RunningProvider, runProvider } from '../../packages/server/src/running-provider.ts'
import { configurationSchema } from '../support/configuration-schema.ts'

export const redirectUri = 'https://web.example.com/callback'

export const clientOf = (clientId: string, more: object = {}) => ({
  clientId,
  secrets: [{ sha256: sha256Of(`${clientId}-secret`) }],
  grantTypes: ['client_credentials', 'authorization_code', 'refresh_token', 'password'],
  scopes: ['openid', 'offline_access', 'api1'],
  redirectUris: [redirectUri],
  accessTokenFormat: 'reference',
  ...more,
})

const base = {
  issuer: 'https://id.example.com',
  storage: { driver: 'memory' },
  clients: [clientOf('web')],
  scopes: [{ name: 'api1', secrets: [{ sha256: sha256Of('api1-secret') }] }],
}

/** Returns a configuration. @param more replaces its usual members */
export const loadedOf = (more: object = {}, directory = '/'): LoadedConfiguration => ({
  configuration: parseConfiguration(configurationSchema, { ...base, ...more }, ''),
  file: 'grantry.config.json',
  directory,
})

export interface Running {
  readonly running: RunningProvider
  readonly events: ServerEvent[]
  /** Sends a form as a client. */
  post(path: string, form: Readonly<Record<string, string>>, as?: string): Promise<Response>
  /** What the next reload reads. */
  next: () => Promise<LoadedConfiguration>
}

/** Runs a configuration without a port. @param runtime replaces parts of the runtime, such as its clock */
export async function run(
  first: LoadedConfiguration,
  driver: AtomicDriver = memoryDriver(),
  runtime: Partial<Runtime> = {},
): Promise<Running> {
  const ofRuntime = await adapterOfThisRuntime()
  const adapter = { ...ofRuntime, runtime: { ...ofRuntime.runtime, ...runtime } }
  const events: ServerEvent[] = []
  const log = (event: ServerEvent): unknown => events.push(event)
  const observability = await openObservability({ metrics: true, log, droppedLines: () => 0, version: '' }, adapter)
  const result: Running = {
    events,
    next: async () => first,
    running: await runProvider({
      ...first,
      driver: sharedDriver(observability.storage(driver)),
      adapter,
      observability,
      isDemo: false,
      read: () => result.next(),
      prepared: () => {},
      warningsOf: () => [],
      reports: {},
    }),
    post: (path, form, as = 'web') =>
      result.running.handle(
        new Request(`https://id.example.com${path}`, {
          method: 'POST',
          headers: { authorization: basic([as, `${as}-secret`]) },
          body: new URLSearchParams(form),
        }),
        { clientAddress: '192.0.2.1' },
      ),
  }
  return result
}
