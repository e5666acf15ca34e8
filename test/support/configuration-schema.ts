import { loadNamedPlugins } from '../../packages/server/src/configuration/named-plugins.ts'

// The server loads the plugins that a configuration names before it checks it. Tests can name any.
await loadNamedPlugins()

export { type Configuration, configurationSchema } from '../../packages/server/src/configuration/schema.ts'
