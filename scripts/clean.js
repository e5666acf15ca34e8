// `npm run clean`: removes the build output.
import { rmSync } from 'node:fs'

const packages = ['core', 'storage-drivers', 'adapters', 'pages', 'resource-server', 'server'].map(
  (name) => `packages/${name}`,
)

for (const folder of [...packages, 'plugins']) {
  rmSync(new URL(`../${folder}/dist`, import.meta.url), { recursive: true, force: true })
}
