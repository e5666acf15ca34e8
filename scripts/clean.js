// `npm run clean`: removes the build output.
import { rmSync } from 'node:fs'
import { packageFolders } from './package-folders.js'

for (const folder of packageFolders) {
  rmSync(new URL(`../${folder}/dist`, import.meta.url), { recursive: true, force: true })
}
