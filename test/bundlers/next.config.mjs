import { fileURLToPath } from 'node:url'

// The workspaces, which are links, are in the repository.
const root = fileURLToPath(new URL('../..', import.meta.url))

// Next.js requires a default export.
export default {
  distDir: process.env.BUNDLE_DIRECTORY,
  turbopack: { root },
  outputFileTracingRoot: root,
  // No second build follows, and no server: a cache and a list of the files of a server take most of the CPU time.
  outputFileTracingExcludes: { '*': ['**/*'], 'next-server': ['**/*'], 'next-minimal-server': ['**/*'] },
  experimental: { turbopackFileSystemCacheForBuild: false },
  webpack: (config) => Object.assign(config, { cache: false }),
}
