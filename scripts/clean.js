// `npm run clean`: removes the build output.
import { rmSync } from 'node:fs'

for (const folder of ['packages/core', 'packages/storage-drivers', 'packages/adapters', 'packages/server', 'plugins']) {
  rmSync(new URL(`../${folder}/dist`, import.meta.url), { recursive: true, force: true })
}
