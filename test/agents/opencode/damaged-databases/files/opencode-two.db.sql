CREATE TABLE other (id);
