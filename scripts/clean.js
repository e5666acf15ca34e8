// `npm run clean`: removes what the build has made.
import { rmSync } from 'node:fs'

for (const folder of ['packages/core', 'packages/storage-drivers', 'packages/adapters', 'packages/server', 'plugins']) {
  rmSync(new URL(`../${folder}/dist`, import.meta.url), { recursive: true, force: true })
}
