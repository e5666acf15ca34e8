import { fileURLToPath } from 'node:url'

// The workspaces, which are links, are in the repository.
const root = fileURLToPath(new URL('../..', import.meta.url))

// Next.js requires a default export.
export default { distDir: process.env.BUNDLE_DIRECTORY, turbopack: { root }, outputFileTracingRoot: root }
