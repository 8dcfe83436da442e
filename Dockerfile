# The same Node that package.json pins for machines; the digest is that of the index of all platforms.
FROM node:24.21.0-bookworm-slim@sha256:2fe369e969550cde8e867afc3fe370b260140cab4a23d467074295b42163d553 AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The build comes after its sources.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY tools/build.mjs tools/documentation.mjs tools/
COPY README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md ./
COPY docs docs
COPY migrations migrations
COPY src src
COPY clients clients
# The last stage compiles for the account that it runs as.
RUN npm run build && rm -rf dist/.compile-cache

FROM node:24.21.0-bookworm-slim@sha256:2fe369e969550cde8e867afc3fe370b260140cab4a23d467074295b42163d553 AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts
# What nothing here loads, 130 MB: the packaged Node (the image has its own), a compiler and pages that @nestjs/swagger could
# use, other forms of what class-validator loads, and what debuggers and compilers read. A test runs this command.
RUN rm -rf node_modules/node-* node_modules/.bin node_modules/typescript node_modules/swagger-ui-dist \
    node_modules/libphonenumber-js/bundle node_modules/libphonenumber-js/es6 node_modules/libphonenumber-js/es6-modern \
    node_modules/libphonenumber-js/source \
  && find node_modules -name '*.map' -delete -o -name '*.d.ts' -delete -o -name '*.d.cts' -delete -o -name '*.d.mts' -delete

FROM node:24.21.0-bookworm-slim@sha256:2fe369e969550cde8e867afc3fe370b260140cab4a23d467074295b42163d553
# One arena of glibc's allocator: what other threads free is used again (docs/operations.md#memory).
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data MALLOC_ARENA_MAX=1
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
RUN mkdir /data dist/.compile-cache && chown node:node /data dist/.compile-cache
USER node
# A start without this cache takes 0.2 s and 38 MiB more (docs/adr/0066-one-program.md).
RUN node --expose-gc --max-semi-space-size=16 --heap-growing-percent=60 \
    --no-allocation-site-pretenuring --no-memory-reducer-favors-memory --no-maglev-destroy-on-background dist/server/main.js --compile-only
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/v1/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Options: docs/adr/0063-engine-options.md.
CMD ["node", "--expose-gc", "--max-semi-space-size=16", "--heap-growing-percent=60", \
  "--no-allocation-site-pretenuring", "--no-memory-reducer-favors-memory", "--no-maglev-destroy-on-background", "dist/server/main.js"]
