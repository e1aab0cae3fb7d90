FROM node:24-bookworm-slim AS build
WORKDIR /opt/daybook
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY sql sql
COPY web web
# For the package of the collector, and the glossary of the page.
COPY LICENSE LICENSE
COPY data data
COPY docs/collect.md docs/numbers.md docs/
COPY scripts/collector.js scripts/collector.js
ARG COMMIT
RUN npm run build && npm prune --omit=dev

FROM node:24-bookworm-slim
# The first process: it passes on a SIGTERM that comes before Node.js can have a handler, which the system would ignore.
RUN apt-get update && apt-get install -y --no-install-recommends tini && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/daybook
COPY package.json CHANGELOG.md LICENSE ./
COPY --from=build /opt/daybook/node_modules node_modules
COPY --from=build /opt/daybook/dist dist
COPY sql sql
COPY data data
COPY docs docs
# The files of whoever builds it may be readable for nobody else.
RUN chmod -R a+rX package.json CHANGELOG.md LICENSE sql data docs
RUN mkdir -m 700 /var/lib/daybook && chown node:node /var/lib/daybook
# A number, by which Kubernetes sees that it isn't root: node of the base image.
USER 1000:1000
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 NODE_OPTIONS=--max-semi-space-size=4 DAYBOOK_DATA=/var/lib/daybook DAYBOOK_HOST=::
VOLUME /var/lib/daybook
EXPOSE 8787
HEALTHCHECK CMD ["node", "dist/cli.js", "health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["tini", "--", "node", "dist/cli.js"]
CMD ["serve"]
