import { createRequire } from 'node:module'

// Defined by the build (tsup.config.ts): the single file has no package.json next to it.
declare const grantryVersion: string | undefined

const ofManifest = (): string =>
  (createRequire(import.meta.url)('../package.json') as { readonly version: string }).version

export const version: string = typeof grantryVersion === 'string' ? grantryVersion : ofManifest()
