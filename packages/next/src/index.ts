export { type HandlersOptions, handlers, type ProviderHandlers, type RouteHandler } from './handlers.ts'
