import { fileURLToPath } from 'node:url'
import { audience } from '../operations.ts'
import type { Bundles } from '../run/bundles.ts'
import { startGrantryServe } from '../run/grantry-serve.ts'
import { pinToCore } from '../run/pin-to-core.ts'
import { startServer } from '../run/server-process.ts'
import type { Setting } from '../setting.ts'
import { installedSize, installedVersion } from './installed-size.ts'
import type { CompanyServer } from './server.ts'

const libraries = ['core', 'plugins', 'storage-drivers', 'adapters', 'users'].map((name) => `@grantry/${name}`)

/** The servers that npm installs. */
export function nodeServers(bench: URL, bundles: Bundles): readonly CompanyServer[] {
  const peers = new URL('peers/', bench)
  const start =
    (program: string, core = 0) =>
    async (setting: Setting) =>
      startServer(pinToCore(core, [process.execPath, await bundles.bundle(program)]), setting)
  return [
    {
      name: 'grantry',
      version: installedVersion('@grantry/core', bench),
      launch: start('companies/grantry.ts'),
      disk: () => installedSize([...libraries, 'pg'], bench),
    },
    {
      name: 'grantry serve',
      version: installedVersion('grantry', bench),
      // The process that issues its tokens is idle during the measurement.
      launch: (setting) => startGrantryServe(bench, setting, start('companies/grantry.ts', 1)),
      disk: () => installedSize(['grantry', 'pg'], bench),
    },
    {
      name: 'oidc-provider',
      version: installedVersion('oidc-provider', peers),
      // Its JWTs need resource indicators, which make reference tokens slower.
      apart: ['client-credentials-es256'],
      launch: start('peers/oidc-provider-postgresql.ts'),
      disk: () => installedSize(['oidc-provider', 'pg'], peers),
    },
    {
      name: 'better-auth',
      version: installedVersion('better-auth', peers),
      jwks: '/api/auth/jwks',
      async launch(setting) {
        const process = await start('peers/better-auth.ts')(setting)
        const resource = `&resource=${encodeURIComponent(audience)}`
        return { ...process, dialect: { fields: { 'client-credentials-es256': resource } } }
      },
      disk: () => installedSize(['better-auth', '@better-auth/oauth-provider', 'pg'], peers),
    },
  ]
}

/** The folder of the benchmarks. */
export const benchFolder = new URL('../', import.meta.url)

/** The file with the figures of the last complete run. */
export const resultsFile = fileURLToPath(new URL('results.json', import.meta.url))
