FROM node:20-bookworm-slim AS build
WORKDIR /opt/daybook
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev

FROM node:20-bookworm-slim
WORKDIR /opt/daybook
COPY --from=build /opt/daybook/package.json ./
COPY --from=build /opt/daybook/node_modules node_modules
COPY --from=build /opt/daybook/dist dist
COPY --from=build /opt/daybook/sql sql
COPY --from=build /opt/daybook/data data
COPY --from=build /opt/daybook/docs docs
RUN mkdir /var/lib/daybook && chown node:node /var/lib/daybook
USER node
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 NODE_OPTIONS=--max-semi-space-size=4 DAYBOOK_DATA=/var/lib/daybook DAYBOOK_HOST=0.0.0.0
VOLUME /var/lib/daybook
EXPOSE 8787
HEALTHCHECK CMD ["node", "-e", "fetch('http://127.0.0.1:8787/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "dist/cli.js"]
CMD ["serve"]
